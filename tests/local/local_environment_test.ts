import assert from "node:assert/strict";
import { localEnvironment } from "../../lib/local/mod.ts";
import { WIRE_VERSION } from "../../lib/version.ts";
import { RawPeer } from "../http/raw_peer.ts";
import { FakeBackend } from "../support/fake_backend.ts";

// What is loaded once stays; no test is to be blamed for that.
if (Deno.build.os === "linux") {
  await Promise.all([
    import("../../lib/process/linux/machine.ts"),
    import("../../lib/fs/linux/system.ts"),
    import("../../lib/linux/tcp.ts"),
  ]);
}

async function withDirectory(act: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-local-" });
  try {
    await act(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a local environment tells of this machine, and of no server", async () => {
  await using environment = await localEnvironment({ id: "here" });
  const info = await environment.info();
  assert.equal(environment.id, "here");
  assert.deepEqual([info.executorVersion, info.serverInfo], [WIRE_VERSION, null]);
  assert.ok(info.cwd?.startsWith("file:///"));
  const { sandboxedFileStreaming, ...capabilities } = info.capabilities;
  assert.deepEqual(Object.values(capabilities), [true, true, true]);
  assert.equal(sandboxedFileStreaming, Deno.build.os === "linux");
  assert.deepEqual(await environment.status(), { state: "ready" });
});

Deno.test("programs inherit the variables that the environment was given, and no others", async () => {
  await using environment = await localEnvironment({
    variables: { PATH: "/usr/bin:/bin", HOME: "/somewhere", X: "1" },
  });
  const { stdoutText } = await environment.run({ argv: ["env"], inherit: "all" });
  assert.deepEqual(stdoutText.trim().split("\n").sort(), ["HOME=/somewhere", "PATH=/usr/bin:/bin", "X=1"]);
});

Deno.test("the end of an environment ends its programs, files and requests, and whoever waits hears of it", () =>
  withDirectory(async (directory) => {
    await using peer = new RawPeer(async ({ send, hungUp }) => {
      await send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfirst");
      await hungUp();
    });
    const environment = await localEnvironment();
    await using sleeping = await environment.start({ argv: ["sh", "-c", "echo $$; exec sleep 100"] });
    const output = sleeping.output.getReader();
    const pid = Number(new TextDecoder().decode((await output.read()).value));
    await environment.files.writeFile(`${directory}/file`, new Uint8Array(5 * 1024 * 1024));
    const file = (await environment.files.open(`${directory}/file`)).getReader();
    await file.read();
    const body = (await environment.fetch(peer.url)).body!.getReader();
    await body.read();
    const waiting = [
      assert.rejects(output.read(), { name: "ClientError", kind: "closed" }),
      assert.rejects(sleeping.exited, { kind: "closed" }),
      sleeping.read({ afterSeq: 1, waitMs: 100_000 }).then(({ closed, failure }) =>
        assert.deepEqual([closed, failure], [true, "exec-server transport closed"])
      ),
      assert.rejects(body.read(), { name: "ClientError", message: /`http-1` failed: exec-server transport closed$/ }),
    ];
    await environment[Symbol.asyncDispose]();
    await Promise.all(waiting);
    assert.throws(() => Deno.kill(pid, "SIGCONT"), { name: "NotFound" });
    const rest = async () => {
      while (!(await file.read()).done);
    };
    await assert.rejects(rest(), { name: "FileError", kind: "BrokenPipe", message: "exec-server transport closed" });
    for (
      const act of [
        () => environment.start({ argv: ["true"] }),
        () => environment.run({ argv: ["true"] }),
        () => environment.fetch(peer.url),
      ]
    ) await assert.rejects(act(), { name: "ClientError", kind: "closed" });
    await assert.rejects(environment.files.stat("/"), { kind: "BrokenPipe" });
    assert.deepEqual(await environment.status(), { state: "disconnected", error: "exec-server transport closed" });
    await environment[Symbol.asyncDispose]();
  }));

Deno.test("an environment that ends while it loads what works on files leaves nothing behind", async () => {
  const environment = await localEnvironment();
  const asking = assert.rejects(environment.files.stat("/"), { kind: "BrokenPipe" });
  await environment[Symbol.asyncDispose]();
  await asking;
});

Deno.test("a program whose caller gave up while it was being launched is ended", async () => {
  const backend = new FakeBackend();
  backend.slow = true;
  await using environment = await localEnvironment({ backend });
  const aborter = new AbortController();
  const starting = environment.start({ argv: ["x"], processId: "p", signal: aborter.signal });
  const failed = assert.rejects(starting, { message: "enough" });
  while (backend.specs.length === 0) await Promise.resolve();
  aborter.abort(new Error("enough"));
  await failed;
  await backend.finish();
  assert.deepEqual(backend.child.calls, ["dispose"]);
  backend.slow = false;
  await using again = await environment.start({ argv: ["x"], processId: "p" });
  assert.equal(again.id, "p");
  backend.child.exit(0);
  backend.child.close();
});

Deno.test("a slow reader of a response holds its peer up and loses nothing", async () => {
  const mebibytes = 40;
  let sent = false;
  await using peer = new RawPeer(async ({ send, write }) => {
    await send(`HTTP/1.1 200 OK\r\ncontent-length: ${mebibytes * 1024 * 1024}\r\n\r\n`);
    for (let count = 0; count < mebibytes; count++) await write(new Uint8Array(1024 * 1024).fill(count));
    sent = true;
  });
  await using environment = await localEnvironment();
  const response = await environment.fetch(peer.url);
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(sent, false);
  let length = 0;
  for await (const chunk of response.body!) {
    assert.equal(chunk[0], Math.floor(length / 1024 / 1024));
    length += chunk.length;
  }
  assert.equal(length, mebibytes * 1024 * 1024);
});
