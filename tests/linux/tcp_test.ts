import assert from "node:assert/strict";
import { acknowledgeNow, shutDown } from "../../lib/linux/tcp.ts";

for (const hostname of ["127.0.0.1", "::1"]) {
  Deno.test(`a connection of ${hostname} is shut down, and no other one`, async () => {
    using listener = Deno.listen({ hostname, port: 0 });
    const { port } = listener.addr as Deno.NetAddr;
    using near = await Deno.connect({ hostname, port });
    using far = await listener.accept();
    using otherNear = await Deno.connect({ hostname, port });
    using otherFar = await listener.accept();
    assert.ok(shutDown(near.localAddr, near.remoteAddr));
    assert.equal(await far.read(new Uint8Array(1)), null);
    assert.equal(await near.read(new Uint8Array(1)), null);
    await otherNear.write(new Uint8Array(1));
    assert.equal(await otherFar.read(new Uint8Array(2)), 1);
  });
}

Deno.test("a connection that is not there is not shut down", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const near = await Deno.connect({ hostname: "127.0.0.1", port: (listener.addr as Deno.NetAddr).port });
  using _far = await listener.accept();
  const { localAddr, remoteAddr } = near;
  assert.ok(!shutDown({ ...localAddr, hostname: "127.0.0.2" }, remoteAddr));
  near.close();
  assert.ok(!shutDown(localAddr, remoteAddr));
});

Deno.test("what a peer sent is acknowledged at once, if there is such a peer", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const near = await Deno.connect({ hostname: "127.0.0.1", port: (listener.addr as Deno.NetAddr).port });
  const far = await listener.accept();
  const { remoteAddr } = far as Deno.TcpConn;
  assert.ok(acknowledgeNow(remoteAddr as Deno.NetAddr));
  near.close();
  far.close();
  assert.ok(!acknowledgeNow(remoteAddr as Deno.NetAddr));
});
