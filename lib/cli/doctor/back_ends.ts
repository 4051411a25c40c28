import { silentLog } from "../../log.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { LazySandbox } from "../../sandbox/lazy_sandbox.ts";
import { backEndAdvice } from "./back_end_advice.ts";
import { type Finding, note, ok } from "./check.ts";

type Reports = Awaited<ReturnType<Sandbox["report"]>>;

/** What can enforce sandboxes on this machine, each with what it promises or what it lacks. */
export async function lookAtBackEnds(report: () => Promise<Reports> = reportHere): Promise<[string, Finding][]> {
  const reports = await report();
  return reports.map((report) => [
    report.name,
    report.reason === undefined
      ? ok(`can enforce ${report.promise}`)
      : note(`does not work here: ${report.reason}`, backEndAdvice(report)),
  ]);
}

async function reportHere(): Promise<Reports> {
  using sandbox = new LazySandbox({ choice: "auto", secretPaths: [], log: silentLog });
  return await (await sandbox.get()).report();
}
