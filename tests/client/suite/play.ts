import { RunningServer, type ServerCommand } from "../../program/running_server.ts";
import type { Place } from "./case.ts";
import { SUITE } from "./mod.ts";
import { runCase } from "./register.ts";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Runs the suite outside of `deno test` and prints one line for each case. */
export async function playSuite(kind: Place["kind"], command: ServerCommand): Promise<Counts> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  await using server = await RunningServer.start({ command });
  for (const [subject, cases] of SUITE) {
    for (const each of cases) {
      const title = `the client against ${kind}: ${subject}: ${each.name}`;
      const since = performance.now();
      try {
        await runCase(each, { kind, url: server.url, command });
        counts.passed++;
        console.log(`ok   ${title} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
      } catch (error) {
        counts.failed++;
        console.log(`FAIL ${title}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return counts;
}

/** Where the server cannot be had: says so, and counts what was not done. */
export function skipSuite(): Counts {
  const skipped = SUITE.reduce((sum, [, cases]) => sum + cases.length, 0);
  console.log(`skip ${skipped} cases of the client against the reference`);
  return { passed: 0, failed: 0, skipped };
}
