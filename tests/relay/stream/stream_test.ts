import assert from "node:assert/strict";
import { AssemblyBudget } from "../../../lib/relay/stream/assembly_budget.ts";
import { type DataFrame, decodeFrame } from "../../../lib/relay/stream/frame.ts";
import { FrameQueue } from "../../../lib/relay/stream/frame_queue.ts";
import { MAX_MESSAGE_BYTES, SOCKET_HIGH_WATER_BYTES } from "../../../lib/relay/limits.ts";
import { prefixed } from "../../../lib/relay/stream/records.ts";
import { SecretTransportKeys } from "../../../lib/relay/noise/transport_keys.ts";
import { HIGH_WATER_BYTES, SHARED_HIGH_WATER_BYTES } from "../../../lib/rpc/connection.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { MemorySocket } from "../support/memory_socket.ts";
import { KEYS, type Role, sealedRecord, StreamEnd, streamTest } from "../support/stream_end.ts";

const ROLES = ["executor", "harness"] as const;

/** Gives the stream a record as its peer would have sealed it. */
function receive(end: StreamEnd, role: Role, seq: number, plaintext: Uint8Array | string): void {
  const key = role === "executor" ? KEYS.toExecutor : KEYS.toHarness;
  const bytes = typeof plaintext === "string" ? prefixed(plaintext) : plaintext;
  end.stream.receive({ seq, payload: sealedRecord(key, seq, bytes) });
}

function dataOf(frame: Uint8Array<ArrayBuffer>): DataFrame {
  const decoded = decodeFrame(frame);
  assert.ok(decoded?.kind === "data");
  return decoded;
}

/** The stream has ended from inside, as a stream of this role does, and nothing hangs on it any more. */
function assertEnded(end: StreamEnd, role: Role, fault: string): void {
  assert.deepEqual(end.ends.map(({ reason }) => reason), [fault]);
  assert.ok(end.ends[0]!.failure?.includes(fault));
  assert.deepEqual(end.left.map(({ own }) => own), [true]);
  assert.deepEqual(end.sentKinds.filter((kind) => kind === "reset"), role === "executor" ? ["reset"] : []);
  assert.equal(end.budget.heldBytes, 0);
}

for (const role of ROLES) {
  streamTest(`RelayStream (${role}) takes records of 61440 bytes, and ends at one more`, async () => {
    const message = new TextDecoder().decode(new Uint8Array(61_436).fill(65));
    const full = new StreamEnd(role).start();
    receive(full, role, 0, message);
    full.stream.peerReset();
    await full.ended;
    assert.deepEqual(full.texts, [message]);
    const over = new StreamEnd(role).start();
    receive(over, role, 0, `${message}A`);
    assertEnded(over, role, "bad record");
  });

  streamTest(`RelayStream (${role}) takes an empty record, which has a number of its own`, () => {
    const end = new StreamEnd(role).start();
    receive(end, role, 0, new Uint8Array(0));
    receive(end, role, 1, "{}");
    assert.deepEqual(end.texts, ["{}"]);
    end.stream.peerReset();
  });

  streamTest(`RelayStream (${role}) ends at a record that its peer has not sealed for it`, () => {
    const inbound = role === "executor" ? KEYS.toExecutor : KEYS.toHarness;
    const outbound = role === "executor" ? KEYS.toHarness : KEYS.toExecutor;
    const flipped = sealedRecord(inbound, 0, prefixed("{}"));
    flipped[flipped.length - 1]! ^= 1;
    const forgeries = {
      "a flipped bit": flipped,
      "our own record": sealedRecord(outbound, 0, prefixed("{}")),
      "another number": sealedRecord(inbound, 1, prefixed("{}")),
      "too short for a tag": new Uint8Array(15),
    };
    for (const [name, payload] of Object.entries(forgeries)) {
      const end = new StreamEnd(role).start();
      end.stream.receive({ seq: 0, payload });
      assertEnded(end, role, "bad record");
      receive(end, role, 0, "{}");
      assert.deepEqual(end.texts, [], name);
    }
  });

  streamTest(`RelayStream (${role}) ends at a message length of 0 or above 64 MiB, after what came before`, () => {
    for (const length of [[0, 0, 0, 0], [4, 0, 0, 1]]) {
      const end = new StreamEnd(role).start();
      receive(end, role, 0, new Uint8Array([...prefixed("1"), ...length]));
      assert.deepEqual(end.texts, ["1"]);
      assertEnded(end, role, "bad message length");
    }
    const largest = new StreamEnd(role).start();
    receive(largest, role, 0, new Uint8Array([4, 0, 0, 0]));
    assert.deepEqual([largest.ends, largest.budget.heldBytes], [[], 0]);
    largest.stream.peerReset();
  });

  streamTest(`RelayStream (${role}) ends at a record out of reach`, () => {
    const end = new StreamEnd(role).start();
    receive(end, role, 64, "{}");
    assert.equal(end.ends.length, 0);
    assert.ok(end.budget.heldBytes > 0);
    receive(end, role, 65, "{}");
    assertEnded(end, role, "record out of reach");
  });

  streamTest(`RelayStream (${role}) looks at a record only when its turn has come`, () => {
    const end = new StreamEnd(role).start();
    end.stream.receive({ seq: 1, payload: new Uint8Array(200_000) });
    end.stream.receive({ seq: 2, payload: new Uint8Array(15) });
    end.stream.receive({ seq: 1, payload: new Uint8Array(61_457) });
    assert.deepEqual(end.ends, []);
    receive(end, role, 0, "{}");
    assert.deepEqual(end.texts, ["{}"]);
    assertEnded(end, role, "bad record");
  });

  streamTest(`RelayStream (${role}) delivers what stands before a record that is none`, async () => {
    const message = "x".repeat(50_000);
    for (const bad of [new Uint8Array(3), new Uint8Array(61_457), new Uint8Array(20), new Uint8Array(50_000)]) {
      const end = new StreamEnd(role).start();
      receive(end, role, 0, message);
      receive(end, role, 1, message);
      end.stream.receive({ seq: 2, payload: bad });
      receive(end, role, 3, "never");
      await end.ended;
      assert.deepEqual(end.texts, [message, message], String(bad.length));
      assertEnded(end, role, "bad record");
    }
  });

  streamTest(`RelayStream (${role}) ends rather than send an empty message or one above 64 MiB`, () => {
    for (const message of ["", "x".repeat(MAX_MESSAGE_BYTES + 1)]) {
      const end = new StreamEnd(role).start();
      end.stream.send(message);
      assertEnded(end, role, "message to send is empty or too large");
    }
  });

  streamTest(`RelayStream (${role}) wipes the keys that it was given`, () => {
    const keys = new SecretTransportKeys(new Uint8Array(32), new Uint8Array(32));
    const end = new StreamEnd(role, { keys });
    assert.throws(() => keys.send, /wiped/);
    assert.throws(() => keys.receive, /wiped/);
    end.stream.peerReset();
  });

  streamTest(`RelayStream (${role}) ends with a reset of its peer, without an answer`, async () => {
    const end = new StreamEnd(role).start();
    end.stream.peerReset();
    assert.deepEqual(await end.ended, { reason: "reset by the peer" });
    end.stream.peerReset();
    end.stream.close();
    end.stream.send("{}");
    assert.deepEqual([end.ends.length, end.left.map(({ own }) => own), end.sentKinds], [1, [false], []]);
  });

  streamTest(`RelayStream (${role}) ends with its socket, and says so to people`, async () => {
    const end = new StreamEnd(role).start();
    end.stream.socketEnded("pong_timeout");
    assert.deepEqual(await end.ended, {
      reason: "pong_timeout",
      failure: "failed to read JSON-RPC message from the other end: pong_timeout",
    });
    assert.deepEqual([end.left.map(({ own }) => own), end.sentKinds], [[false], []]);
  });

  streamTest(`RelayStream (${role}) delivers what came before a reset, also what is still being opened`, async () => {
    const end = new StreamEnd(role).start();
    const large = "x".repeat(50_000);
    receive(end, role, 0, large);
    receive(end, role, 1, "{}");
    end.stream.peerReset();
    assert.deepEqual(end.texts, []);
    end.stream.send("too late");
    await end.ended;
    assert.deepEqual([end.texts, end.sentKinds], [[large, "{}"], []]);
    assert.equal(end.budget.heldBytes, 0);
  });

  streamTest(`RelayStream (${role}) takes no record behind a reset, and ends for the first reason`, async () => {
    const end = new StreamEnd(role).start();
    const large = "x".repeat(50_000);
    receive(end, role, 0, large);
    end.stream.peerReset();
    receive(end, role, 1, "{}");
    end.stream.socketEnded("closed by us");
    assert.deepEqual(await end.ended, { reason: "reset by the peer" });
    assert.deepEqual(end.texts, [large]);
  });

  streamTest(`RelayStream (${role}) sends what it was given before close, and then its end`, async () => {
    const end = new StreamEnd(role).start();
    end.stream.send("x".repeat(200_000));
    end.stream.send("{}");
    end.stream.close();
    assert.deepEqual(end.ends, [{ reason: "closed by us" }]);
    assert.deepEqual(end.left, []);
    end.stream.send("too late");
    const data = Array(5).fill("data");
    await end.socket.whenSent(role === "executor" ? 6 : 5);
    assert.deepEqual(end.sentKinds, role === "executor" ? [...data, "reset"] : data);
    assert.deepEqual(end.left.map(({ own }) => own), [true]);
  });

  streamTest(`RelayStream (${role}) does not wait for a socket that takes nothing longer than its patience`, () => {
    const clock = new ManualClock();
    const end = new StreamEnd(role, { clock }).start();
    end.socket.takesAll = false;
    for (let count = 0; count < 200; count++) end.stream.send("{}");
    end.stream.close();
    clock.advance(1_999);
    assert.deepEqual(end.left, []);
    clock.advance(1);
    assert.deepEqual(end.left.map(({ own }) => own), [true]);
    assert.equal(end.sentKinds.at(-1), role === "executor" ? "reset" : "data");
    assert.equal(clock.pendingTimers, 0);
  });
}

for (const what of ["its receiver closes it", "a record is bad"]) {
  streamTest(
    `RelayStream sends no reset if ${what} after the peer's: there may be a newer stream of this id`,
    async () => {
      const end = new StreamEnd("executor");
      const ended = Promise.withResolvers<void>();
      end.stream.start({ message: () => end.stream.close(), ended: () => ended.resolve() });
      const record = sealedRecord(KEYS.toExecutor, 0, prefixed("x".repeat(50_000)));
      if (what === "a record is bad") record[0]! ^= 1;
      end.stream.receive({ seq: 0, payload: record });
      end.stream.peerReset();
      await ended.promise;
      assert.deepEqual([end.sentKinds, end.left.map(({ own }) => own)], [[], [false]]);
    },
  );
}

streamTest("RelayStream stops leaving when the peer resets it meanwhile, and sends no reset then", () => {
  const clock = new ManualClock();
  const end = new StreamEnd("executor", { clock }).start();
  end.socket.takesAll = false;
  for (let count = 0; count < 200; count++) end.stream.send("{}");
  end.stream.close();
  end.stream.peerReset();
  assert.deepEqual([end.left.map(({ own }) => own), clock.pendingTimers], [[false], 0]);
  assert.equal(end.socket.sent.length, 128);
});

streamTest("RelayStream deals with a small record, and answers it, in the same turn", () => {
  const end = new StreamEnd("executor");
  end.stream.start({ message: (message) => end.stream.sendBytes(message as Uint8Array), ended() {} });
  receive(end, "executor", 0, "ping");
  const [frame] = end.socket.sent;
  assert.deepEqual(dataOf(frame!).payload, sealedRecord(KEYS.toHarness, 0, prefixed("ping")));
  end.stream.peerReset();
});

streamTest(
  "RelayStream keeps messages for a receiver that asks to wait; 128 wait at an executor, and one more ends it",
  async () => {
    const end = new StreamEnd("executor");
    const pause = Promise.withResolvers<void>();
    const got: unknown[] = [];
    let ended = 0;
    end.stream.start({
      message(message) {
        got.push(message);
        return pause.promise;
      },
      ended: () => ended++,
    });
    for (let seq = 0; seq < 129; seq++) receive(end, "executor", seq, "{}");
    assert.deepEqual([got.length, ended], [1, 0]);
    assert.ok(end.budget.heldBytes > 128 * 2);
    receive(end, "executor", 129, "{}");
    assert.deepEqual([got.length, ended, end.budget.heldBytes], [1, 1, 0]);
    assert.deepEqual(end.left[0]?.end.reason, "too many waiting messages");
    pause.resolve();
    await pause.promise;
    await undefined;
    assert.equal(got.length, 1);
  },
);

streamTest("RelayStream delivers messages that waited in order, each when the receiver is ready", async () => {
  const end = new StreamEnd("harness");
  const got: string[] = [];
  let ready = () => {};
  end.stream.start({
    message(message) {
      got.push(new TextDecoder().decode(message as Uint8Array));
      return new Promise((resolve) => ready = resolve);
    },
    ended() {},
  });
  for (let seq = 0; seq < 300; seq++) receive(end, "harness", seq, `${seq}`);
  for (let count = 1; count < 300; count++) {
    assert.equal(got.length, count);
    ready();
    await undefined;
    await undefined;
  }
  assert.deepEqual(got, [...Array(300).keys()].map(String));
  assert.equal(end.budget.heldBytes, 0);
  end.stream.peerReset();
});

streamTest("RelayStream holds nothing of what it has delivered", async () => {
  const end = new StreamEnd("executor");
  const delivered = Promise.withResolvers<void>();
  end.stream.start({
    message(message) {
      if (message.length === 2) delivered.resolve();
    },
    ended() {},
  });
  receive(end, "executor", 1, "{}");
  receive(end, "executor", 0, "x".repeat(50_000));
  assert.ok(end.budget.heldBytes > 50_000);
  await delivered.promise;
  assert.equal(end.budget.heldBytes, 0);
  end.stream.peerReset();
});

streamTest("RelayStream delivers what came before it was started, and tells of an end that came before", () => {
  const early = new StreamEnd("executor");
  receive(early, "executor", 0, "{}");
  assert.deepEqual(early.texts, []);
  early.start();
  assert.deepEqual(early.texts, ["{}"]);
  early.stream.peerReset();
  const over = new StreamEnd("executor");
  receive(over, "executor", 0, "{}");
  over.stream.peerReset();
  assert.equal(over.budget.heldBytes, 0);
  over.start();
  assert.deepEqual([over.texts, over.ends], [[], [{ reason: "reset by the peer" }]]);
});

streamTest("RelayStream delivers nothing after its receiver has closed it in the middle of a record", () => {
  const end = new StreamEnd("executor");
  const got: unknown[] = [];
  end.stream.start({
    message(message) {
      got.push(message);
      end.stream.close(1002, "protocol violation");
    },
    ended: (told) => end.ends.push(told),
  });
  receive(end, "executor", 0, new Uint8Array([...prefixed("1"), ...prefixed("2")]));
  assert.equal(got.length, 1);
  assert.deepEqual(end.ends, [{ reason: "protocol violation" }]);
  assert.deepEqual(end.sentKinds, ["reset"]);
});

streamTest("RelayStream is congested by what its socket has not been given, sooner while it shares", async () => {
  const end = new StreamEnd("executor").start();
  end.socket.takesAll = false;
  const piece = "x".repeat(60_000);
  let sent = 0;
  const fillAbove = (bytes: number) => {
    for (; sent < bytes + SOCKET_HIGH_WATER_BYTES + piece.length; sent += piece.length) end.stream.send(piece);
  };
  end.stream.sharing = true;
  fillAbove(SHARED_HIGH_WATER_BYTES);
  assert.equal(end.stream.congested, true);
  end.stream.sharing = false;
  assert.equal(end.stream.congested, false);
  fillAbove(HIGH_WATER_BYTES);
  assert.equal(end.stream.congested, true);
  let drained = false;
  const wait = end.stream.drained().then(() => drained = true);
  await end.socket.whenSent(15);
  assert.equal(drained, false);
  end.socket.takesAll = true;
  end.socket.drain();
  await wait;
  assert.equal(end.stream.congested, false);
  end.stream.peerReset();
});

streamTest("RelayStream lets go those who wait for it to drain when it ends", async () => {
  const end = new StreamEnd("executor").start();
  end.socket.takesAll = false;
  for (let count = 0; count < 100; count++) end.stream.send("x".repeat(60_000));
  const waits = [end.stream.drained(), end.stream.drained()];
  end.stream.socketEnded("connection lost");
  await Promise.all(waits);
  assert.equal(end.stream.congested, false);
});

streamTest("A flood on one stream does not keep another's answer behind more than the socket's bound", async () => {
  const socket = new MemorySocket();
  socket.takesAll = false;
  const shared = { socket, queue: new FrameQueue(socket), budget: new AssemblyBudget() };
  const flood = new StreamEnd("executor", { ...shared, streamId: "flood" }).start();
  const other = new StreamEnd("executor", { ...shared, streamId: "other" }).start();
  for (let count = 0; count < 60; count++) flood.stream.send("x".repeat(61_436));
  await socket.whenSent(17);
  const before = socket.sent.length;
  other.stream.send("{}");
  while (!socket.sent.some((frame) => dataOf(frame).streamId === "other")) {
    assert.ok(socket.drain(1) > 0);
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const position = socket.sent.findIndex((frame) => dataOf(frame).streamId === "other");
  assert.ok(position - before <= 10, `${position - before} frames of the flood went first`);
  assert.ok(socket.peakBytes <= SOCKET_HIGH_WATER_BYTES + 61_600, `${socket.peakBytes}`);
  flood.stream.peerReset();
  other.stream.peerReset();
});

streamTest("The stream that grows beyond what all of a socket may hold is ended, and no other", () => {
  const budget = new AssemblyBudget(400_000);
  const [small, large] = [1, 2].map(() => new StreamEnd("executor", { budget }).start()) as [StreamEnd, StreamEnd];
  const begun = new Uint8Array([0, 16, 0, 0, 1]);
  receive(small, "executor", 0, begun);
  receive(large, "executor", 0, begun);
  for (let seq = 1; large.ends.length === 0; seq++) receive(large, "executor", seq, new Uint8Array(8_000));
  assert.deepEqual([large.ends[0]?.reason, small.ends], ["too much held", []]);
  assert.equal(budget.heldBytes, 64 * 1024);
  small.stream.peerReset();
  assert.equal(budget.heldBytes, 0);
});
