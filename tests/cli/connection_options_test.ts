import assert from "node:assert/strict";
import { CONNECTION_OPTIONS, savedTarget, serverTarget, toSave } from "../../lib/cli/connection_options.ts";
import { parseCommand } from "../../lib/cli/parse_command.ts";
import type { Command } from "../../lib/cli/command.ts";
import { FakeCli } from "./fake_cli.ts";

const command: Command = {
  name: "try",
  summary: "",
  synopsis: ["[OPTIONS]"],
  description: [],
  options: CONNECTION_OPTIONS,
  operands: [],
  exitStatus: [],
  examples: [],
  run: () => Promise.resolve(0),
};

const target = (...argv: string[]) => serverTarget(parseCommand(command, argv), command);

Deno.test("a server is found by URL, by name, or is one of our own", () => {
  assert.deepEqual(target(), { kind: "embedded" });
  assert.deepEqual(target("--connect", "ws://127.0.0.1:1"), { kind: "url", url: "ws://127.0.0.1:1" });
  assert.deepEqual(target("--connect=wss://host/path", "--token-file", "t"), {
    kind: "url",
    url: "wss://host/path",
    tokenFile: "t",
  });
  assert.deepEqual(target("--env", "build"), { kind: "environment", name: "build" });
});

Deno.test("a URL that cannot be followed is refused, and never shown when it holds a secret", () => {
  const refusal = (url: string) => {
    try {
      target("--connect", url);
    } catch (error) {
      return (error as Error).message.split("\n")[0]!;
    }
    throw new Error(`not refused: ${url}`);
  };
  assert.match(refusal("127.0.0.1:8765"), /^error: invalid value for '--connect <URL>': /);
  assert.match(refusal("nonsense"), /'nonsense' is no URL; a server prints one when it starts/);
  assert.match(refusal("http://127.0.0.1:1"), /'http:\/\/' is not supported; ws:\/\/ and wss:\/\/ are$/);
  for (const url of ["ws://token@host", "ws://me:token@host", "http://:token@host"]) {
    assert.match(refusal(url), /a URL must not hold a name or password/);
    assert.doesNotMatch(refusal(url), /token@|me:/);
  }
});

Deno.test("what a detached program needs to be found again holds no token, and paths from everywhere", () => {
  const cli = new FakeCli();
  const roundTrip = (...argv: string[]) => {
    const saved = toSave(target(...argv), cli);
    return saved && savedTarget({ id: "x", sessionId: "s", startedAt: new Date(), program: "p", ...saved });
  };
  assert.equal(roundTrip(), undefined);
  assert.deepEqual(roundTrip("--env", "build"), { kind: "environment", name: "build" });
  assert.deepEqual(roundTrip("--connect", "ws://h:1"), { kind: "url", url: "ws://h:1" });
  assert.deepEqual(roundTrip("--connect", "ws://h:1", "--token-file", "t"), {
    kind: "url",
    url: "ws://h:1",
    tokenFile: "/here/t",
  });
  for (const path of ["/abs/t", "C:\\t", "\\\\host\\t"]) {
    const saved = toSave({ kind: "url", url: "ws://h:1", tokenFile: path }, cli);
    assert.equal(saved?.tokenFile, path);
  }
});
