import assert from "node:assert/strict";
import { Inbox } from "../../../lib/relay/stream/inbox.ts";

/** An inbox whose receiver waits for what the test says. */
function recorded() {
  const seen: string[] = [];
  const waits: PromiseWithResolvers<void>[] = [];
  let busy = false;
  const inbox = new Inbox(
    {
      message(message) {
        seen.push(String(message[0]));
        if (!busy) return;
        const wait = Promise.withResolvers<void>();
        waits.push(wait);
        return wait.promise;
      },
      ended: ({ reason }) => void seen.push(reason),
    },
    (isFull) => seen.push(isFull ? "full" : "not full"),
  );
  return {
    inbox,
    seen,
    put: (...numbers: number[]) => numbers.forEach((number) => inbox.put(Uint8Array.of(number))),
    busy: (on: boolean) => void (busy = on),
    /** The receiver is done with its oldest message. */
    done: async () => {
      waits.shift()!.resolve();
      for (let turn = 0; turn < 3; turn++) await null;
    },
  };
}

Deno.test("Inbox hands on at once what a receiver takes at once", () => {
  const { inbox, seen, put } = recorded();
  put(1, 2);
  inbox.end({ reason: "over" });
  put(3);
  assert.deepEqual(seen, ["1", "2", "over"]);
});

Deno.test("Inbox keeps messages in order for a receiver that waits, and says so", async () => {
  const { seen, put, busy, done } = recorded();
  busy(true);
  put(1, 2, 3);
  assert.deepEqual(seen.splice(0), ["1", "full"]);
  await done();
  assert.deepEqual(seen.splice(0), ["2", "full"]);
  busy(false);
  await done();
  assert.deepEqual(seen, ["3", "not full"]);
});

Deno.test("Inbox tells the end after what came before it", async () => {
  const { inbox, seen, put, busy, done } = recorded();
  busy(true);
  put(1, 2);
  inbox.end({ reason: "over" });
  await done();
  assert.deepEqual(seen.splice(0), ["1", "full", "2", "full"]);
  await done();
  assert.deepEqual(seen, ["over"]);
});

Deno.test("Inbox forgets what waits when it is to end at once, and tells the end once", async () => {
  const { inbox, seen, put, busy, done } = recorded();
  busy(true);
  put(1, 2);
  inbox.endAtOnce({ reason: "over" });
  inbox.end({ reason: "again" });
  await done();
  assert.deepEqual(seen, ["1", "full", "over"]);
});
