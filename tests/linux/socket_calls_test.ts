import assert from "node:assert/strict";
import { EAGAIN, EPIPE } from "../../lib/linux/errno.ts";
import { close } from "../../lib/linux/libc.ts";
import { isPairedSocket, peek, receive, type Received, send, socketPair } from "../../lib/linux/socket_calls.ts";
import { openForReading } from "../../lib/linux/namespace_calls.ts";
import { addressOf, bytesOf, systemCall } from "../../lib/linux/system_call.ts";
import { bytes, leftOpen, openDescriptors } from "../support/linux.ts";

const ignore = Deno.build.os !== "linux";
const now = { now: true };

function test(name: string, run: (near: number, far: number) => void): void {
  Deno.test({
    name,
    ignore,
    fn() {
      const before = openDescriptors();
      const ends = socketPair();
      assert.ok(typeof ends !== "number");
      try {
        run(...ends);
      } finally {
        for (const fd of ends) close(fd);
      }
      assert.deepEqual(leftOpen(before), []);
    },
  });
}

function take(socket: number, length: number): [string, number | null] {
  const buffer = new Uint8Array(new ArrayBuffer(length));
  const received = receive(socket, buffer, now) as Received;
  return [new TextDecoder().decode(buffer.subarray(0, received.count)), received.fd];
}

test("bytes go both ways, and nothing is waited for", (near, far) => {
  assert.equal(receive(near, new Uint8Array(new ArrayBuffer(4)), now), -EAGAIN);
  assert.equal(send(near, bytes("there"), null, now), 5);
  assert.equal(send(far, bytes("back"), null, now), 4);
  assert.deepEqual(take(far, 3), ["the", null]);
  assert.deepEqual(take(far, 30), ["re", null]);
  assert.deepEqual(take(near, 30), ["back", null]);
});

test("a descriptor arrives with its bytes, and not with those before or behind it", (near, far) => {
  const file = openForReading("/proc/self/stat");
  send(near, bytes("before"), null, now);
  send(near, bytes("with"), file, now);
  send(near, bytes("behind"), null, now);
  close(file);
  const [text, none] = take(far, 6);
  assert.deepEqual([text, none], ["before", null]);
  const [, handed] = take(far, 2);
  assert.ok(handed !== null && handed > 2, "with the first of its bytes");
  assert.match(Deno.readLinkSync(`/proc/self/fd/${handed}`), /\/stat$/);
  assert.match(Deno.readTextFileSync(`/proc/self/fdinfo/${handed}`), /^flags:\s+02\d{6}$/m, "closed on exec");
  close(handed);
  let rest = "";
  while (rest.length < "thbehind".length) rest += take(far, 30)[0];
  assert.equal(rest, "thbehind");
  assert.equal(peek(far), -EAGAIN);
});

test("of several descriptors that come at once the first arrives, and no other is left open", (near, far) => {
  const files = ["stat", "status", "maps"].map((name) => openForReading(`/proc/self/${name}`));
  for (const count of [2, 3]) {
    sendAll(near, files.slice(0, count));
    const before = openDescriptors();
    const [text, handed] = take(far, 30);
    assert.equal(text, "x");
    assert.ok(handed !== null);
    assert.match(Deno.readLinkSync(`/proc/self/fd/${handed}`), /\/stat$/);
    close(handed);
    assert.deepEqual(leftOpen(before), []);
  }
  for (const file of files) close(file);
});

/** One byte, and descriptors with it. */
function sendAll(socket: number, files: readonly number[]): void {
  const length = 16 + 4 * files.length;
  const control = new DataView(new ArrayBuffer(32));
  control.setBigUint64(0, BigInt(length), true);
  control.setInt32(8, 1, true); // SOL_SOCKET
  control.setInt32(12, 1, true); // SCM_RIGHTS
  files.forEach((file, index) => control.setInt32(16 + 4 * index, file, true));
  const byte = bytes("x");
  const vector = new BigUint64Array([addressOf(byte), 1n]);
  const header = new BigUint64Array(7);
  header[2] = addressOf(bytesOf(vector));
  header[3] = 1n;
  header[4] = addressOf(bytesOf(control));
  header[5] = BigInt(length);
  const sendmsg = Deno.build.arch === "aarch64" ? 211 : 46;
  assert.equal(systemCall(sendmsg, socket, bytesOf(header), 0, byte, bytesOf(vector), bytesOf(control)), 1);
}

test("a full connection takes what it can, and says so", (near) => {
  const large = new Uint8Array(new ArrayBuffer(16 * 1024 * 1024));
  const sent = send(near, large, null, now);
  assert.ok(sent > 0 && sent < large.length);
  assert.equal(send(near, large, null, now), -EAGAIN);
});

Deno.test({
  name: "the end of the other side shows, without a signal",
  ignore,
  fn() {
    const ends = socketPair();
    assert.ok(typeof ends !== "number");
    const [near, far] = ends;
    assert.equal(peek(near), -EAGAIN);
    send(far, bytes("last"), null, now);
    assert.equal(peek(near), 1);
    close(far);
    assert.deepEqual(take(near, 30), ["last", null]);
    assert.equal(peek(near), 0);
    assert.deepEqual(take(near, 30), ["", null]);
    assert.equal(send(near, bytes("x"), null, now), -EPIPE);
    close(near);
  },
});

test("only such sockets are taken for what they are", (near) => {
  assert.ok(isPairedSocket(near));
  const file = openForReading("/proc/self/stat");
  assert.ok(!isPairedSocket(file));
  close(file);
  assert.ok(!isPairedSocket(-1));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  void listener;
  const others = [...openDescriptors()].filter(([fd, target]) => fd > 2 && target.startsWith("socket:"));
  assert.ok(others.some(([fd]) => !isPairedSocket(fd)), "a network socket");
});
