/** A server that is the client's own child. */
import assert from "node:assert/strict";
import { connectCommand } from "../../../lib/client/connect.ts";
import { eventually } from "../../program/eventually.ts";
import type { Case, Place } from "./case.ts";
import { SHORT } from "./through.ts";

const PROJECT = new URL("../../../", import.meta.url).pathname;

/** A server with homes of the case's own, which writes its process id first. */
function child({ command, directory }: Place) {
  const script = `echo $$ > ${directory}/pid; exec ${[...command, "--listen", "stdio"].map(quoted).join(" ")}`;
  const env = {
    HOME: directory,
    CODEX_HOME: directory,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
  };
  return { program: "sh", args: ["-c", script], cwd: PROJECT, env };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function pidOf({ directory }: Place): Promise<number> {
  return Number(await Deno.readTextFile(`${directory}/pid`));
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

export const COMMAND: readonly Case[] = [
  {
    name: "a server on a command's stdin and stdout does the same, and ends with the client",
    async run(place) {
      const client = await connectCommand(child(place), SHORT);
      const pid = await pidOf(place);
      assert.equal((await client.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
      await client.files.writeTextFile(`${place.directory}/file`, "x".repeat(300_000));
      assert.equal((await client.files.readTextFile(`${place.directory}/file`)).length, 300_000);
      assert.ok(isAlive(pid));
      await client[Symbol.asyncDispose]();
      assert.ok(!isAlive(pid));
    },
  },
  {
    name: "the child's end fails everything at once, and no second child is started",
    async run(place) {
      await using client = await connectCommand(child(place), SHORT);
      const pid = await pidOf(place);
      await using process = await client.start({ argv: ["sleep", "60"] });
      Deno.kill(pid, "SIGKILL");
      await assert.rejects(process.closed, { kind: "disconnected", message: /^exec-server transport disconnected/ });
      await eventually("it has failed", () => assert.equal(client.state, "failed"));
      await assert.rejects(client.call("environment/status", null), (error) => error === client.failure);
      assert.equal(await pidOf(place), pid);
    },
  },
  {
    name: "a command that is not there, or does not speak the protocol, is a clear failure",
    async run(place) {
      await assert.rejects(connectCommand({ program: `${place.directory}/missing` }, SHORT), {
        kind: "spawn",
        message: "failed to spawn exec-server: No such file or directory (os error 2)",
      });
      await assert.rejects(connectCommand({ program: "true" }, SHORT), { name: "ClientError" });
      await assert.rejects(connectCommand({ program: "echo", args: ["hello"] }, SHORT), { name: "ClientError" });
      await assert.rejects(connectCommand({ program: "cat" }, { ...SHORT, initializeTimeoutMs: 200 }), {
        name: "ClientError",
      });
    },
  },
];
