import assert from "node:assert/strict";
import type { ProcessEvent, StartOptions } from "../../lib/client/process.ts";
import { PathUri } from "../../lib/path_uri.ts";
import { type Case, type Failure, failureOf } from "./case.ts";

const decoder = new TextDecoder();

export const PROCESS_CASES: readonly Case[] = [
  {
    name: "a program's output, exit and end come in order",
    async run({ environment, directory }) {
      await using process = await environment.start({
        argv: ["sh", "-c", "pwd -P; echo err >&2; exit 3"],
        cwd: directory,
      });
      const events: ProcessEvent[] = [];
      for await (const event of process) events.push(event);
      assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at + 1));
      const text = (name: string) =>
        events.map((event) => event.type === "output" && event.stream === name ? decoder.decode(event.bytes) : "").join(
          "",
        );
      assert.deepEqual([text("stdout"), text("stderr")], [`${await Deno.realPath(directory)}\n`, "err\n"]);
      const exit = await process.exited;
      assert.deepEqual(exit, { code: 3, signal: null, reason: "exited", sandboxDenied: false });
      await process.closed;
      return [exit, process.sandboxType, events.slice(-2).map(({ type }) => type)];
    },
  },
  {
    name: "run gives the output of a program that reads its input to the end",
    async run({ environment }) {
      const input = "one\ntwo\n".repeat(10_000);
      const { stdoutText, code } = await environment.run({ argv: ["sort", "-u"], input });
      assert.equal(stdoutText, "one\ntwo\n");
      const streamed = await environment.run({ argv: ["wc", "-c"], input: new Blob([input]).stream() });
      assert.equal(streamed.stdoutText.trim(), String(input.length));
      return code;
    },
  },
  {
    name: "values that are no text are named",
    async run({ environment }) {
      const wrong = [
        { argv: ["true", 5] },
        { argv: ["true"], env: { A: "1", B: undefined } },
        { argv: ["true"], env: { A: null } },
      ] as unknown as readonly StartOptions[];
      const failures: Failure[] = [];
      for (const options of wrong) failures.push(await failureOf(() => environment.run(options)));
      assert.deepEqual(failures.map((failure) => [failure?.kind, failure?.message]), [
        ["configuration", "argv[1] must be a string, not number"],
        ["configuration", "env.B must be a string, not undefined"],
        ["configuration", "env.A must be a string, not null"],
      ]);
      return failures;
    },
  },
  {
    name: "run refuses more output than asked for",
    async run({ environment }) {
      const failure = await failureOf(() =>
        environment.run({ argv: ["sh", "-c", "yes | head -c 100000"], maxOutputBytes: 1000, processId: "much" })
      );
      assert.equal(failure?.kind, "outputLimit");
      return failure;
    },
  },
  {
    name: "a process is written to, interrupted, signalled and ended",
    async run({ environment }) {
      await using cat = await environment.start({ argv: ["cat"], stdin: true, processId: "cat" });
      await cat.write("hé");
      await cat.closeStdin();
      assert.equal(await new Response(cat.stdout).text(), "hé");
      const late = await failureOf(() => cat.write("late"));
      const exits = [await cat.exited];
      for (const name of ["SIGINT", "SIGTERM", "SIGUSR1", "SIGKILL"]) {
        await using sleeping = await environment.start({ argv: ["sleep", "100"] });
        if (name === "SIGINT") await sleeping.interrupt();
        else await sleeping.signal(name);
        exits.push(await sleeping.exited);
      }
      await using ended = await environment.start({ argv: ["sleep", "100"] });
      assert.equal(await ended.terminate(), true);
      exits.push(await ended.exited);
      assert.deepEqual(exits.map(({ signal, reason }) => [signal, reason]), [
        [null, "exited"],
        ["SIGINT", "signaled"],
        ["SIGTERM", "signaled"],
        ["SIGUSR1", "signaled"],
        ["SIGKILL", "signaled"],
        ["SIGKILL", "terminated"],
      ]);
      await ended.closed;
      return [exits, late, await ended.terminate(), await failureOf(() => ended.signal("SIGNONE"))];
    },
  },
  {
    name: "a terminal has a size, which can be changed",
    async run({ environment }) {
      await using shell = await environment.start({
        argv: ["sh", "-c", "stty size; read _; stty size; read _"],
        tty: { rows: 31, columns: 97 },
      });
      const lines = lineReader(shell.output);
      assert.equal(await lines(), "31 97");
      await shell.resize({ rows: 5, columns: 6 });
      await shell.write("\n");
      assert.equal(await lines(), "");
      assert.equal(await lines(), "5 6");
      await shell.closeStdin();
      const exit = await shell.exited;
      const failures = [await failureOf(() => shell.resize({ rows: 0, columns: 1 }))];
      await using piped = await environment.start({ argv: ["cat"], processId: "piped" });
      failures.push(await failureOf(() => piped.resize({ rows: 1, columns: 1 })));
      failures.push(await failureOf(() => piped.write("x")));
      failures.push(await failureOf(() => piped.closeStdin()));
      return [exit.code, failures];
    },
  },
  {
    name: "a program may run for so long",
    async run({ environment }) {
      await using process = await environment.start({ argv: ["sleep", "100"], timeLimitMs: 50 });
      const exit = await process.exited;
      assert.deepEqual([exit.signal, exit.reason], ["SIGKILL", "timeLimit"]);
      return exit;
    },
  },
  {
    name: "a program gets the variables that the policy lets through, and those that are given",
    async run({ environment }) {
      const variablesOf = async (options: Omit<StartOptions, "argv">) => {
        const { stdoutText } = await environment.run({ argv: ["/usr/bin/env"], ...options });
        return stdoutText.trim().split("\n").filter((line) => /^(OWN|HOME|PATH|SECRET_TOKEN|EXTRA)=/.test(line)).sort();
      };
      const core = await variablesOf({ env: { OWN: "1" } });
      assert.ok(core.includes("OWN=1") && core.some((line) => line.startsWith("PATH=")));
      assert.deepEqual(await variablesOf({ inherit: "none", env: { OWN: "2" } }), ["OWN=2"]);
      return [
        core,
        await variablesOf({ inherit: "all" }),
        await variablesOf({
          envPolicy: {
            inherit: "all",
            ignoreDefaultExcludes: false,
            exclude: ["HOME"],
            set: new Map([["EXTRA", "x"]]),
            includeOnly: [],
          },
        }),
      ];
    },
  },
  {
    name: "what cannot be started fails in the same words",
    async run({ environment, directory }) {
      await Deno.writeTextFile(`${directory}/plain`, "no program");
      const failures: Failure[] = [];
      for (
        const options of [
          { argv: [] },
          { argv: ["no-such-program-anywhere"] },
          { argv: [`${directory}/plain`] },
          { argv: ["true"], cwd: `${directory}/absent` },
          { argv: ["true"], cwd: "file:///C:/x" },
          { argv: ["true"], sandbox: sandbox([READ_ALL], { useLegacyLandlock: true }) },
          { argv: ["true"], sandbox: sandbox([READ_ALL], { windowsSandboxLevel: "mxc" }) },
          { argv: ["true"], sandbox: sandbox([READ_ALL], { cwd: PathUri.parse("file://elsewhere/x") }) },
          { argv: [], sandbox: sandbox([READ_ALL]) },
          { argv: ["true"], inherit: "core", envPolicy: null },
          { argv: ["true"], tty: { rows: 0, columns: 1 } },
          { argv: ["true"], timeLimitMs: 0 },
          { argv: ["true"], managedNetwork: NETWORK },
          { argv: ["true"], shellSnapshot: { scopeId: "", shell: { name: "sh", path: "/bin/sh" } } },
          { argv: ["true"], signal: AbortSignal.abort(new Error("enough")) },
        ] as StartOptions[]
      ) {
        const failure = await failureOf(() => environment.start({ processId: "failing", ...options }));
        assert.notEqual(failure, null, JSON.stringify(options));
        failures.push({ ...failure!, message: String(failure!.message).replaceAll(directory, "") });
      }
      assert.deepEqual(failures.slice(1, 3).map((failure) => failure?.dataKind), [
        "spawnNotFound",
        "spawnPermissionDenied",
      ]);
      await using first = await environment.start({ argv: ["cat"], stdin: true, processId: "twin" });
      failures.push(await failureOf(() => environment.start({ argv: ["true"], processId: "twin" })));
      await first.terminate();
      await first.closed;
      failures.push(await failureOf(() => environment.start({ argv: ["true"], processId: "twin" })));
      return failures.map((failure) => ({ ...failure, serverMessage: undefined }));
    },
  },
  {
    name: "a program is held to its sandbox, and it is said that a failure may be its doing; or it does not run",
    async run({ environment, directory }) {
      const writable: Entry = {
        path: { type: "path", path: PathUri.parse(PathUri.fromNative(`${directory}/in`)) },
        access: "write",
        missing_path_behavior: null,
      };
      await Deno.mkdir(`${directory}/in`);
      const options = {
        argv: ["sh", "-c", "echo yes > in/may && touch may-not"],
        cwd: directory,
        sandbox: sandbox([READ_ALL, writable]),
      };
      const results: unknown[] = [];
      for (const tty of [false, true]) {
        const failure = await failureOf(async () => {
          await using process = await environment.start({ ...options, tty });
          await process.closed;
          results.push(await process.exited, process.sandboxType);
          assert.deepEqual(await process.exited, { code: 1, signal: null, reason: "exited", sandboxDenied: true });
        });
        if (failure !== null) assert.equal(failure.dataKind, "sandboxUnavailable", String(failure.message));
        results.push(failure);
        await assert.rejects(Deno.lstat(`${directory}/may-not`), Deno.errors.NotFound);
        const written = await Deno.readTextFile(`${directory}/in/may`).catch(() => null);
        assert.equal(written, failure === null ? "yes\n" : null);
      }
      return results;
    },
  },
  {
    name:
      "who may write everything but some paths has the usual devices, and those stay as they are, whatever was approved",
    async run({ environment, directory }) {
      for (const name of ["denied", "kept"]) await Deno.mkdir(`${directory}/${name}`);
      await Deno.writeTextFile(`${directory}/denied/secret`, "s");
      const below = (name: string, access: Entry["access"]): Entry => ({
        path: { type: "path", path: PathUri.parse(PathUri.fromNative(`${directory}/${name}`)) },
        access,
        missing_path_behavior: null,
      });
      const entries = [{ ...READ_ALL, access: "write" } as const, below("denied", "deny"), below("kept", "read")];
      const script = "for device in null zero full random urandom tty; do [ -c /dev/$device ] && echo $device; done; " +
        "echo x > /dev/null && echo written; cat denied/secret; echo x > kept/file; echo x > made; exit 3";
      const results: unknown[] = [];
      for (
        const sandboxOverride of [
          "noOverride",
          "escalatedSandboxWithRestrictions",
          "bypassSandboxFirstAttempt",
        ] as const
      ) {
        const failure = await failureOf(async () => {
          const run = { argv: ["sh", "-c", script], cwd: directory, sandbox: sandbox(entries, { sandboxOverride }) };
          const { stdoutText, stderrText, code } = await environment.run(run);
          assert.equal(stdoutText, "null\nzero\nfull\nrandom\nurandom\ntty\nwritten\n");
          results.push(stdoutText, stderrText.replaceAll(directory, ""), code);
        });
        if (failure !== null) assert.equal(failure.dataKind, "sandboxUnavailable", String(failure.message));
        results.push(failure, await names(`${directory}/kept`), await names(directory));
        assert.deepEqual(results.slice(-2), [[], failure === null ? ["denied", "kept", "made"] : ["denied", "kept"]]);
      }
      return results;
    },
  },
  {
    name: "what a process said can be read again, and waited for",
    async run({ environment }) {
      await using process = await environment.start({ argv: ["sh", "-c", "echo one; read _; echo two"], stdin: true });
      const first = await process.read({ waitMs: 10_000 });
      const afterSeq = first.nextSeq - 1;
      const impatient = await failureOf(() => process.read({ afterSeq, waitMs: 200 }, { timeoutMs: 20 }));
      assert.equal(impatient?.kind, "callTimeout");
      await process.write("\n");
      await process.closed;
      const rest = await process.read({ afterSeq });
      const texts = [first, rest].map(({ chunks }) => chunks.map(({ bytes }) => decoder.decode(bytes)).join(""));
      assert.deepEqual(texts, ["one\n", "two\n"]);
      assert.deepEqual([rest.exited, rest.exitCode, rest.closed], [true, 0, true]);
      return [rest.nextSeq, impatient];
    },
  },
  {
    name: "leaving the scope of a process ends it and its group",
    async run({ environment }) {
      let output: ReadableStream<Uint8Array>;
      let exited: Promise<unknown>;
      {
        await using process = await environment.start({ argv: ["sh", "-c", "sleep 100 & echo started; wait"] });
        ({ output, exited } = process);
        assert.equal(await lineReader(output)(), "started");
      }
      return await exited;
    },
  },
  {
    name: "a program that floods is held while nobody reads, and then read to its end",
    async run({ environment }) {
      const bytes = 40 * 1024 * 1024;
      await using process = await environment.start({ argv: ["sh", "-c", `head -c ${bytes} /dev/zero; echo end >&2`] });
      const { stdout, stderr } = process;
      let length = 0;
      for await (const chunk of stdout) length += chunk.length;
      assert.equal(length, bytes);
      assert.equal(await new Response(stderr).text(), "end\n");
      return (await process.exited).code;
    },
  },
];

const NETWORK: NonNullable<StartOptions["managedNetwork"]> = {
  allowLocalBinding: false,
  loopbackPorts: [],
  transparentTcp: false,
  allowUnixSockets: [],
  dangerouslyAllowAllUnixSockets: false,
};
type Sandbox = NonNullable<StartOptions["sandbox"]>;
type Entry = Extract<
  Extract<Sandbox["permissions"], { type: "managed" }>["file_system"],
  { type: "restricted" }
>["entries"][number];

const READ_ALL: Entry = {
  path: { type: "special", value: { kind: "root" } },
  access: "read",
  missing_path_behavior: null,
};

function sandbox(entries: readonly Entry[], more: Partial<Sandbox> = {}): Sandbox {
  return {
    permissions: {
      type: "managed",
      file_system: { type: "restricted", entries: [...entries], glob_scan_max_depth: null },
      network: "restricted",
    },
    sandboxOverride: "noOverride",
    cwd: null,
    policyContext: null,
    workspaceRoots: [],
    userHomeDir: null,
    temporaryDirectories: null,
    windowsSandboxLevel: "disabled",
    windowsSandboxProxySettingsMode: null,
    useLegacyLandlock: false,
    ...more,
  };
}

async function names(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory), ({ name }) => name)).sort();
}

/** Lines of a stream, one by one, without their ends. */
function lineReader(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.getReader();
  let text = "";
  return async () => {
    for (;;) {
      const end = text.indexOf("\n");
      if (end >= 0) {
        const line = text.slice(0, end).replace(/\r$/, "");
        text = text.slice(end + 1);
        return line;
      }
      const { value, done } = await reader.read();
      assert.ok(!done, `the output ended behind ${JSON.stringify(text)}`);
      text += decoder.decode(value, { stream: true });
    }
  };
}
