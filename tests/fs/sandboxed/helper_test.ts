import assert from "node:assert/strict";
import { ConfinedFiles } from "../../../lib/fs/sandboxed/confined_files.ts";
import type { FileOperations } from "../../../lib/fs/operations.ts";
import { createLog } from "../../../lib/log.ts";
import type { FileConfinement } from "../../../lib/sandbox/sandbox.ts";
import { leftOpen, openDescriptors } from "../../support/linux.ts";
import { bytesOf, textOf } from "../scratch.ts";
import { caller } from "./confined_place.ts";

const LINUX_ONLY = { ignore: Deno.build.os !== "linux" };

/** What has to be in a helper's place, which has the connection as 3. */
function confinedBy(...argv: string[]): FileConfinement {
  return {
    arguments: () => argv,
    confinement: { kind: "mounts", mounts: [] },
    hold: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  };
}

/** A shell script that begins when it has read the first request. */
function script(text: string): FileConfinement {
  return confinedBy("/bin/sh", "-c", `dd bs=65536 count=1 of=/dev/null status=none <&3; ${text}`);
}

/** Has requests answered by what is not our helper, and looks that nothing of it is left. */
async function answered<T>(
  confinement: FileConfinement,
  ask: (operations: FileOperations) => T | Promise<T>,
): Promise<T> {
  const open = openDescriptors();
  const warnings: string[] = [];
  const files = new ConfinedFiles({ log: createLog("warn", (line) => warnings.push(line)) });
  try {
    return await ask(files.operations(() => Promise.resolve(confinement)));
  } finally {
    files[Symbol.dispose]();
    await files.left();
    assert.deepEqual(leftOpen(open), [], "descriptors are left open");
    assert.deepEqual(warnings, []);
  }
}

/** The shell's words for messages, all of which come at once. */
function said(...bodies: string[]): string {
  const format = bodies.map((body) => `\\${body.length.toString(8)}\\0\\0\\0%s`).join("");
  return `printf '${format}' ${bodies.map((body) => `'${body}'`).join(" ")} >&3`;
}

const look = async (operations: FileOperations) => await operations.getMetadata(bytesOf("/"), true, caller);
const list = async (operations: FileOperations) => await operations.readDirectory(bytesOf("/"), caller);

Deno.test({
  name: "what a helper cannot have said is its end, and nobody waits for more",
  ...LINUX_ONLY,
  async fn() {
    const malformed = [
      "null",
      "7",
      "[]",
      "{}",
      "{",
      '{"part":"entries","items":null}',
      '{"part":"others","items":[]}',
      '{"part":"__proto__","items":[]}',
      '{"failed":null}',
      '{"failed":{"kind":"internal","message":7,"errno":null}}',
      '{"failed":{"kind":"none","message":"","errno":null}}',
      '{"failed":{"kind":"internal","message":"","errno":"2"}}',
      '{"cancelled":false}',
      '{"broken":7}',
    ];
    for (const body of malformed) {
      await assert.rejects(answered(script(`${said(body)}; read -r none <&3`), list), {
        kind: "internal",
        message: "fs sandbox helper failed with status signal: 9 (SIGKILL): it said what makes no sense",
      }, body);
    }
  },
});

Deno.test({
  name: "a helper that ends in the middle of an answer is missed, with what it said of it",
  ...LINUX_ONLY,
  async fn() {
    for (const words of [":", "printf '\\4\\0' >&3", "printf '\\4\\0\\0\\0nul' >&3"]) {
      await assert.rejects(answered(script(`${words}; echo why >&2; exit 5`), look), {
        kind: "internal",
        message: "fs sandbox helper failed with status exit status: 5: why",
      }, words);
    }
  },
});

Deno.test({
  name: "a helper is not used again that says something unasked",
  ...LINUX_ONLY,
  async fn() {
    const twice = script(`${said('{"done":1}', '{"done":2}')}; read -r none <&3`);
    const results = await answered(twice, async (operations) => [await look(operations), await look(operations)]);
    assert.deepEqual(results, [1, 1]);
  },
});

Deno.test({
  name: "a descriptor that was not asked for is closed, and one that is missing is missed",
  ...LINUX_ONLY,
  async fn() {
    const program = new URL("handing_program.ts", import.meta.url).pathname;
    const handing = (...args: string[]) => confinedBy(Deno.execPath(), "run", "-A", "--no-check", program, ...args);
    assert.deepEqual(await answered(handing(), list), []);
    const read = async (operations: FileOperations) => {
      using file = await operations.openForReading(bytesOf("/any"), caller);
      return textOf(await file.read(0n, 100, caller.signal));
    };
    assert.match(await answered(handing(), read), /^\d+ \(/);
    await assert.rejects(answered(handing("none"), read), {
      message: "fs sandbox helper failed with status unknown: it kept what it had opened",
    });
  },
});
