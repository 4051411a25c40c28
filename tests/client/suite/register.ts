import { inTime } from "../../program/eventually.ts";
import { RunningServer, type ServerCommand } from "../../program/running_server.ts";
import type { Case, Place } from "./case.ts";
import { SUITE } from "./mod.ts";

/** No case takes as long, unless it hangs. */
const PATIENCE_MS = 45_000;

/**
 * Makes one test of each subject, with a server of its own, and a step of each case. `EXEC_SERVER_CASE` in the
 * environment: only cases whose name contains it.
 *
 * @param command Null: the server cannot be had, and the tests are skipped.
 */
export function registerSuite(kind: Place["kind"], command: ServerCommand | null): void {
  const wanted = Deno.env.get("EXEC_SERVER_CASE") ?? "";
  for (const [subject, cases] of SUITE) {
    Deno.test({
      name: `the client against ${kind === "ours" ? "our server" : "the reference"}: ${subject}`,
      ignore: command === null || Deno.build.os !== "linux",
      async fn(test) {
        await using server = await RunningServer.start({ command: command! });
        for (const each of cases.filter(({ name }) => name.includes(wanted))) {
          await test.step(each.name, () => runCase(each, { kind, url: server.url, command: command! }));
        }
      },
    });
  }
}

/** @throws {Error} What is wrong. */
export async function runCase({ run }: Case, server: Omit<Place, "directory">): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-suite-" });
  try {
    await inTime("the end of the case", run({ ...server, directory }), PATIENCE_MS);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
