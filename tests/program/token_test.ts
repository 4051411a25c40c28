import assert from "node:assert/strict";
import { CommandLine } from "./command_line.ts";
import { RunningServer } from "./running_server.ts";

Deno.test("a token comes from a file or from a variable, and only the right one is let in", async () => {
  await using user = await CommandLine.create();
  const file = `${user.home}/token`;
  await Deno.writeTextFile(file, "the right one\n".replaceAll(" ", "-"));
  await using server = await RunningServer.start({
    options: ["--ws-auth", "capability-token", "--ws-token-file", file],
  });
  const argv = (...options: string[]) => ["exec", "--connect", server.url, ...options, "--", "echo", "in"];
  const letIn = { code: 0, stdout: "in\n", stderr: "" };
  assert.deepEqual(await user.run(argv("--token-file", file)), letIn);
  assert.deepEqual(await user.run(argv(), { env: { EXEC_SERVER_TOKEN: "the-right-one" } }), letIn);
  for (const env of [{}, { EXEC_SERVER_TOKEN: "wrong" }]) {
    const { code, stdout, stderr } = await user.run(argv(), { env });
    assert.deepEqual([code, stdout], [125, ""]);
    assert.match(stderr, /401 Unauthorized/);
    assert.doesNotMatch(stderr, /wrong/);
  }
  const missing = await user.run(argv("--token-file", `${user.home}/nowhere`));
  assert.equal(missing.code, 125);
  assert.match(missing.stderr, /cannot get the token: .*nowhere/);
});

Deno.test("a token is sent to no other machine in the clear", async () => {
  await using user = await CommandLine.create();
  const { code, stderr } = await user.run(["exec", "--connect", "ws://192.0.2.1:8765", "--", "true"], {
    env: { EXEC_SERVER_TOKEN: "secret" },
  });
  assert.equal(code, 125);
  assert.match(stderr, /exec-server WebSocket headers require wss:\/\/ or a loopback destination/);
  assert.doesNotMatch(stderr, /secret/);
});
