import assert from "node:assert/strict";
import { createLog, silentLog } from "../../lib/log.ts";
import * as libc from "../../lib/linux/libc.ts";
import { Poller } from "../../lib/linux/poller.ts";
import { bytes, leftOpen, openDescriptors } from "../support/linux.ts";

function pipe(): readonly [number, number] {
  const ends = libc.pipe(libc.O_CLOEXEC | libc.O_NONBLOCK);
  if (typeof ends === "number") throw new Error(`errno ${-ends}`);
  return ends;
}

/** The next turn of the event loop in which a poll has ended. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

Deno.test("Poller tells when a descriptor is readable, as long as that is wanted", async () => {
  using poller = new Poller(silentLog);
  const [reading, writing] = pipe();
  const { promise, resolve } = Promise.withResolvers<void>();
  const buffer = new Uint8Array(8);
  const heard: number[] = [];
  const watch = poller.watch(reading, {
    readable() {
      heard.push(libc.read(reading, buffer));
      if (heard.length === 2) resolve();
    },
  });
  watch.reading = true;
  libc.write(writing, bytes("abc"));
  while (heard.length === 0) await turn();
  libc.write(writing, bytes("de"));
  await promise;
  watch.reading = false;
  libc.write(writing, bytes("f"));
  await poller.idle();
  assert.deepEqual(heard, [3, 2]);
  watch.close();
  libc.close(writing);
});

Deno.test("Poller takes new descriptors and new wishes while it waits", async () => {
  using poller = new Poller(silentLog);
  const [quiet, quietEnd] = pipe();
  const first = poller.watch(quiet, { readable() {} });
  first.reading = true;
  await turn(); // it waits now
  const [reading, writing] = pipe();
  const { promise, resolve } = Promise.withResolvers<void>();
  const second = poller.watch(writing, {
    writable() {
      second.writing = false;
      resolve();
    },
  });
  second.writing = true;
  await promise;
  for (const watch of [first, second]) watch.close();
  await poller.idle();
  libc.close(quietEnd);
  libc.close(reading);
});

Deno.test("Poller delivers nothing to a watch that ended earlier in the same batch, even if its number is used again", async () => {
  using poller = new Poller(silentLog);
  const [one, oneEnd] = pipe();
  const [other, otherEnd] = pipe();
  const calls: string[] = [];
  let again: { stopped: boolean; close(): void } | undefined;
  const endings = new Map<number, () => void>();
  const watch = (fd: number, peer: number, name: string) => {
    const made = poller.watch(fd, {
      readable() {
        calls.push(name);
        // Whichever comes first ends both, and the freed numbers go to an empty pipe that is watched too.
        for (const end of endings.values()) end();
        endings.clear();
        const [fresh, freshEnd] = pipe();
        assert.ok([one, other].includes(fresh));
        const next = poller.watch(fresh, { readable: () => calls.push("fresh") });
        next.reading = true;
        again = next;
        endings.set(fresh, () => {
          next.close();
          libc.close(freshEnd);
        });
      },
    });
    made.reading = true;
    endings.set(fd, () => {
      made.close();
      libc.close(peer);
    });
  };
  watch(one, oneEnd, "one");
  watch(other, otherEnd, "other");
  libc.write(oneEnd, bytes("x"));
  libc.write(otherEnd, bytes("x"));
  await turn();
  assert.equal(calls.length, 1);
  assert.equal(again?.stopped, false);
  for (const end of endings.values()) end();
  await poller.idle();
  assert.equal(calls.length, 1);
});

Deno.test("Poller says that the other end of a pipe is gone to whoever reads or writes", async () => {
  using poller = new Poller(silentLog);
  const [reading, readingEnd] = pipe();
  const [writingEnd, writing] = pipe();
  const calls: string[] = [];
  const reader = poller.watch(reading, {
    readable() {
      calls.push("end");
      reader.close();
    },
  });
  const writer = poller.watch(writing, {
    writable() {
      calls.push("broken");
      writer.close();
    },
  });
  reader.reading = true;
  writer.writing = true;
  libc.close(readingEnd);
  libc.close(writingEnd);
  await poller.idle();
  assert.deepEqual(calls.sort(), ["broken", "end"]);
});

Deno.test("Poller survives a listener that throws, and listens to it no more", async () => {
  const lines: string[] = [];
  using poller = new Poller(createLog("error", (line) => lines.push(line)));
  const [reading, writing] = pipe();
  const watch = poller.watch(reading, {
    readable() {
      throw new Error("broken");
    },
  });
  watch.reading = true;
  libc.write(writing, bytes("x"));
  await poller.idle();
  assert.equal(watch.stopped, true);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /a listener of a descriptor failed reason="Error: broken"/);
  libc.close(reading);
  libc.close(writing);
});

Deno.test("Poller gives its descriptors back when the last watch has ended", async () => {
  const before = openDescriptors();
  const poller = new Poller(silentLog);
  const [reading, writing] = pipe();
  const watch = poller.watch(reading, { readable() {} });
  watch.reading = true;
  poller[Symbol.dispose]();
  poller[Symbol.dispose]();
  await turn();
  assert.equal(leftOpen(before).length, 4);
  watch.close();
  libc.close(writing);
  await poller.idle();
  assert.deepEqual(leftOpen(before), []);
  assert.throws(() => {
    poller.watch(0, {}).reading = true;
  }, /disposed of/);
});

Deno.test("a watch that has been stopped wants nothing any more", () => {
  using poller = new Poller(silentLog);
  const watch = poller.watch(0, {});
  watch.stop();
  assert.throws(() => {
    watch.reading = true;
  }, /no longer watched/);
});
