import assert from "node:assert/strict";
import { TcpProxy } from "../client/support/tcp_proxy.ts";
import { testBothSides } from "./command_sides.ts";
import { eventually, HopelessError, inTime } from "./eventually.ts";
import { signalIfAlive } from "./running_server.ts";
import { describeTree, leftovers, sameContent, writeNoise } from "./files_of_user.ts";

const BYTES = 12_000_000;
/** Long enough for the interruption, short enough for tidying up. */
const STALL_MS = 1_000;

/** Waits until something has come. A copy that ends before fails at once with what it said, and none is left behind. */
async function inTheMiddle(copy: Deno.ChildProcess, check: () => void): Promise<void> {
  let hasEnded = false;
  void copy.status.then(() => hasEnded = true);
  try {
    await eventually("something has come", () => {
      if (hasEnded) throw new HopelessError("the copy has ended");
      check();
    });
  } catch (error) {
    signalIfAlive(copy, "SIGKILL");
    await copy.stdin.close();
    const { stderr } = await copy.output();
    throw new Error(`${(error as Error).message}; it said: ${new TextDecoder().decode(stderr)}`, { cause: error });
  }
}

testBothSides("an interrupted download is continued by the same command, if the source is the same", async (scene) => {
  const { user, server, connect } = scene;
  const { home } = user;
  await Deno.mkdir(`${home}/far`);
  await writeNoise(`${home}/far/big`, BYTES);
  const interrupt = async (): Promise<number> => {
    const stalled = [{ direction: "toClient", afterBytes: 8_000_000, fault: { kind: "stall", ms: 60_000 } }] as const;
    const interrupted = async (): Promise<Deno.ChildProcess> => {
      await using proxy = new TcpProxy(server.url, { admit: () => stalled });
      const child = user.spawn(["cp", "--connect", proxy.url, `env:${home}/far/big`, "back"]);
      await inTheMiddle(child, () => assert.ok(Deno.statSync(leftovers(user)[0]!).size >= 4_000_000));
      child.kill("SIGINT");
      await child.stdin.close();
      // The proxy ends here: nobody is to wait for the farewell of a server that is held up.
      return child;
    };
    const child = await interrupted();
    const { code, stderr } = await inTime("the end of the interrupted copy", child.output());
    assert.equal(code, 130, new TextDecoder().decode(stderr));
    assert.deepEqual(leftovers(user).length, 1);
    assert.throws(() => Deno.statSync(`${home}/back`), Deno.errors.NotFound);
    return Deno.statSync(leftovers(user)[0]!).size;
  };
  const fetch = async (): Promise<number> => {
    const { code, stdout, stderr } = await user.run(["cp", "--json", ...connect, `env:${home}/far/big`, "back"]);
    assert.deepEqual([code, stderr], [0, ""]);
    await sameContent(`${home}/far/big`, `${home}/back`);
    assert.deepEqual(leftovers(user), []);
    await Deno.remove(`${home}/back`);
    return JSON.parse(stdout).bytes;
  };
  const first = await interrupt();
  assert.equal(await fetch(), BYTES - first, "only the rest is fetched");
  await interrupt();
  await writeNoise(`${home}/far/big`, BYTES, 2);
  assert.equal(await fetch(), BYTES, "another content is fetched from its beginning, and the part is gone");
});

testBothSides("a download goes on over a connection that is cut", async ({ user, server }) => {
  const { home } = user;
  await Deno.mkdir(`${home}/far`);
  await writeNoise(`${home}/far/big`, BYTES);
  const cut = [{ direction: "toClient", afterBytes: 5_000_000, fault: { kind: "cut" } }] as const;
  await using proxy = new TcpProxy(server.url, { admit: (index) => index < 2 ? cut : [] });
  const { code, stdout } = await user.run(["cp", "--json", "--connect", proxy.url, `env:${home}/far/big`, "back"]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).bytes, BYTES);
  await sameContent(`${home}/far/big`, `${home}/back`);
  assert.ok(proxy.accepted >= 3);
  assert.deepEqual(leftovers(user), []);
});

testBothSides("an upload over a connection that is cut fails, and leaves the target as it was", async (scene) => {
  const { user, server } = scene;
  const { home } = user;
  await Deno.mkdir(`${home}/far`);
  await Deno.writeTextFile(`${home}/far/big`, "old");
  await writeNoise(`${home}/big`, BYTES);
  const cut = [{ direction: "toServer", afterBytes: 5_000_000, fault: { kind: "cut" } }] as const;
  await using proxy = new TcpProxy(server.url, { admit: (index) => index < 1 ? cut : [] });
  const { code, stderr } = await user.run(["cp", "--connect", proxy.url, "big", `env:${home}/far/big`]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`env:${home}/far/big: exec-server transport closed`));
  assert.equal(await Deno.readTextFile(`${home}/far/big`), "old");
  assert.deepEqual(leftovers(user), []);
});

testBothSides("an interrupted upload leaves neither a part nor a change", async ({ user, server }) => {
  const { home } = user;
  await Deno.mkdir(`${home}/far`);
  await Deno.writeTextFile(`${home}/far/big`, "old");
  await writeNoise(`${home}/big`, BYTES);
  await Deno.chmod(`${home}/big`, 0o640);
  const stalled = [{ direction: "toServer", afterBytes: 6_000_000, fault: { kind: "stall", ms: STALL_MS } }] as const;
  await using proxy = new TcpProxy(server.url, { admit: () => stalled });
  const child = user.spawn(["cp", "--connect", proxy.url, "big", `env:${home}/far/big`]);
  await inTheMiddle(child, () => assert.ok(Deno.statSync(leftovers(user)[0]!).size > 0));
  assert.equal(Deno.statSync(leftovers(user)[0]!).mode! & 0o777, 0o600, "secrets are secret on their way, too");
  child.kill("SIGINT");
  await child.stdin.close();
  const { code, stderr } = await inTime("the end of the interrupted copy", child.output());
  assert.equal(code, 130, new TextDecoder().decode(stderr));
  assert.equal(await Deno.readTextFile(`${home}/far/big`), "old");
  assert.deepEqual(leftovers(user), []);
});

for (const direction of ["up", "down"] as const) {
  testBothSides(
    `an interrupted copy of a tree, ${direction}, leaves nothing on either side`,
    async ({ user, server }) => {
      const { home } = user;
      await Deno.mkdir(`${home}/tree`);
      for (let i = 0; i < 4; i++) await writeNoise(`${home}/tree/${i}`, 6_000_000, i);
      const way = direction === "up" ? "toServer" : "toClient";
      const stalled = [{ direction: way, afterBytes: 8_000_000, fault: { kind: "stall", ms: STALL_MS } }] as const;
      await using proxy = new TcpProxy(server.url, { admit: () => stalled });
      const operands = direction === "up" ? ["tree", `env:${home}/copy`] : [`env:${home}/tree`, "copy"];
      const child = user.spawn(["cp", "--connect", proxy.url, ...operands]);
      await inTheMiddle(child, () => assert.ok(leftovers(user).length > 1));
      child.kill("SIGINT");
      await child.stdin.close();
      const { code, stderr } = await inTime("the end of the interrupted copy", child.output());
      assert.equal(code, 130, new TextDecoder().decode(stderr));
      assert.deepEqual(leftovers(user), []);
      assert.throws(() => Deno.statSync(`${home}/copy`), Deno.errors.NotFound);
      assert.deepEqual(await Array.fromAsync(Deno.readDir(`${home}/tmp`)), []);
    },
  );
}

for (const direction of ["up", "down"] as const) {
  testBothSides(`Ctrl-C leaves a copy of a tree, ${direction}, at once while the link is lost`, async (scene) => {
    const { user, server } = scene;
    const { home } = user;
    await Deno.mkdir(`${home}/tree`);
    for (let i = 0; i < 4; i++) await writeNoise(`${home}/tree/${i}`, 3_000_000, i);
    const way = direction === "up" ? "toServer" : "toClient";
    const cut = (afterBytes: number) => [{ direction: way, afterBytes, fault: { kind: "cut" } }] as const;
    await using proxy = new TcpProxy(server.url, { admit: (index) => cut(index === 0 ? 5_000_000 : 0) });
    const operands = direction === "up" ? ["tree", `env:${home}/copy`] : [`env:${home}/tree`, "copy"];
    const child = user.spawn(["cp", "--connect", proxy.url, ...operands]);
    await child.stdin.close();
    const [told, all] = child.stderr.tee();
    const stderr = new Response(all).text();
    await inTime("word of the lost link", told.getReader().read());
    child.kill("SIGINT");
    const { code } = await inTime("the end of the interrupted copy", child.status);
    await child.stdout.cancel();
    assert.equal(code, 130);
    assert.match(await stderr, /the link to the server is lost/);
    assert.throws(() => Deno.statSync(`${home}/copy`), Deno.errors.NotFound);
    const left = leftovers(user);
    if (left.length > 0) assert.match(await stderr, /env:.* is left behind: interrupted by SIGINT/);
    if (direction === "down") {
      assert.deepEqual(left.filter((path) => path.includes("/.copy.")), [], "nothing is left here");
    }
  });
}

for (const direction of ["up", "down"] as const) {
  testBothSides(`a tree over a connection that is cut, ${direction}, arrives whole or not at all`, async (scene) => {
    const { user, server, extended } = scene;
    const { home } = user;
    await Deno.mkdir(`${home}/tree`);
    for (let i = 0; i < 4; i++) await writeNoise(`${home}/tree/${i}`, 3_000_000, i);
    const way = direction === "up" ? "toServer" : "toClient";
    const cut = [{ direction: way, afterBytes: 5_000_000, fault: { kind: "cut" } }] as const;
    await using proxy = new TcpProxy(server.url, { admit: (index) => index < 1 ? cut : [] });
    const operands = direction === "up" ? ["tree", `env:${home}/copy`] : [`env:${home}/tree`, "copy"];
    const { code, stderr } = await user.run(["cp", "--connect", proxy.url, ...operands]);
    assert.match(stderr, /^exec-server: the link to the server is lost; trying to get it back\n/);
    // What is written to a program is written once over lost connections, too.
    if (extended && direction === "up") assert.equal(code, 0, stderr);
    if (code === 0) assert.equal(await describeTree(user, "copy"), await describeTree(user, "tree"));
    else assert.throws(() => Deno.statSync(`${home}/copy`), Deno.errors.NotFound, stderr);
    assert.deepEqual(leftovers(user), []);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${home}/tmp`)), []);
  });
}
