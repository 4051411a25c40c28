import assert from "node:assert/strict";
import { Changes } from "./changes.ts";
import { dataFrame, frameWith, handshakeFrame, viewFrame, withStreamId } from "./frame_view.ts";
import { TestWorld } from "./world.ts";

/** A plain WebSocket to the rendezvous, and what came of it. */
class RawPeer implements AsyncDisposable {
  readonly received: string[] = [];
  readonly #changes = new Changes();
  readonly #closed = Promise.withResolvers<void>();

  private constructor(readonly socket: WebSocket) {
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      const view = viewFrame(new Uint8Array(data as ArrayBuffer))!;
      this.received.push(`${view.streamId} ${view.kind} ${view.seq}`);
      this.#changes.notify();
    };
    socket.onclose = () => this.#closed.resolve();
  }

  static async open(url: string): Promise<RawPeer> {
    const peer = new RawPeer(new WebSocket(url));
    await new Promise<void>((resolve, reject) => {
      peer.socket.onopen = () => resolve();
      peer.socket.onerror = () => reject(new Error("no connection"));
    });
    peer.socket.onerror = null;
    return peer;
  }

  /** Waits until so much has come, and compares. */
  async has(...expected: string[]): Promise<void> {
    await this.#changes.until(`frame ${expected.length}`, () => this.received.length >= expected.length);
    assert.deepEqual(this.received, expected);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    await this.#closed.promise;
  }
}

const payload = (length: number) => new Uint8Array(length).fill(7);

Deno.test("the test rendezvous routes by stream and tells each side when the other has gone", async () => {
  await using world = TestWorld.start();
  const { rendezvous } = world;
  await using executor = await RawPeer.open(rendezvous.url("executor", "r1"));
  await using near = await RawPeer.open(rendezvous.url("harness", "r1"));
  await using far = await RawPeer.open(rendezvous.url("harness", "r1"));
  near.socket.send(frameWith("near", "resume", new Uint8Array(0)));
  near.socket.send(handshakeFrame("near", payload(10)));
  await executor.has("near resume 0", "near handshake 0");
  far.socket.send(handshakeFrame("far", payload(70_000)));
  await executor.has("near resume 0", "near handshake 0", "far handshake 0");
  executor.socket.send(dataFrame("far", 3, payload(20)));
  executor.socket.send(dataFrame("near", 0x7fff_ffff, payload(20)));
  await far.has("far data 3");
  await near.has("near data 2147483647");
  near.socket.close();
  await executor.has("near resume 0", "near handshake 0", "far handshake 0", "near reset 0");
  executor.socket.close();
  await far.has("far data 3", "far reset 0");
  assert.deepEqual(rendezvous.streams, []);
});

Deno.test("the test rendezvous makes the same decisions from the same seed", async () => {
  const rates = { loss: 0.1, duplication: 0.1, reordering: 0.2, bitFlips: 0.1, swaps: 0.1 };
  const outcomes: string[][] = [];
  for (const seed of [5, 5, 6]) {
    await using world = TestWorld.start({ seed, faults: rates });
    const { rendezvous } = world;
    await using executor = await RawPeer.open(rendezvous.url("executor", "r1"));
    await using harness = await RawPeer.open(rendezvous.url("harness", "r1"));
    for (let seq = 0; seq < 200; seq++) harness.socket.send(dataFrame("stream", seq, payload(20)));
    harness.socket.send(handshakeFrame("stream", payload(20)));
    await rendezvous.until("all frames", () => rendezvous.relayed.length === 201);
    // What was held back for frames that do not come any more is let go after a moment.
    await new Promise((resolve) => setTimeout(resolve, 100));
    outcomes.push(executor.received);
  }
  const [first, second, other] = outcomes;
  // The decisions are the same; a busy machine may let go earlier what waits for later frames.
  assert.deepEqual(first!.toSorted(), second!.toSorted());
  assert.notDeepEqual(first!.toSorted(), other!.toSorted());
  assert.ok(new Set(first).size < 201 && first!.length > new Set(first).size, "some were lost, some came twice");
  assert.notDeepEqual(first, first!.toSorted(), "some came late");
});

Deno.test("the test rendezvous refuses upgrades as it is told", async () => {
  await using world = TestWorld.start();
  const { rendezvous } = world;
  const headers = { "x-codex-rendezvous-rejection-reason": "expired" };
  rendezvous.refuse("executor", { status: 403, headers, body: "no" }, "drop");
  const response = await fetch(rendezvous.url("executor", "r1").replace("ws:", "http:"));
  assert.deepEqual([response.status, response.headers.get("x-codex-rendezvous-rejection-reason")], [403, "expired"]);
  assert.equal(await response.text(), "no");
  await assert.rejects(RawPeer.open(rendezvous.url("executor", "r1")));
  await using _executor = await RawPeer.open(rendezvous.url("executor", "r1"));
  assert.equal(rendezvous.upgrades.length, 3);
});

Deno.test("a peer that reads nothing fills the test rendezvous up to its bound, and both sides are closed", async () => {
  await using world = TestWorld.start({ backlogBytes: 100_000, atBacklog: "close" });
  const { rendezvous } = world;
  await using executor = await RawPeer.open(rendezvous.url("executor", "r1"));
  await using harness = await RawPeer.open(rendezvous.url("harness", "r1"));
  harness.socket.send(dataFrame("stream", 0, payload(20)));
  await executor.has("stream data 0");
  (await rendezvous.connected("executor")).socket.bytesPerSecond = 1_000;
  for (let seq = 1; seq < 10; seq++) harness.socket.send(dataFrame("stream", seq, payload(50_000)));
  await rendezvous.until("the end", () => rendezvous.open("harness").length + rendezvous.open("executor").length === 0);
});

Deno.test("the test registry authorizes a key for one registration, once if it shall", async () => {
  for (const singleUse of [false, true]) {
    await using world = TestWorld.start({ singleUse });
    const ask = async (route: string, body: unknown) => {
      const init = { method: "POST", body: JSON.stringify(body) };
      return await (await fetch(`${world.registryUrl}/cloud/environment/e%201/${route}`, init)).json();
    };
    assert.equal((await ask("connect", { harness_public_key: { a: 1 } })).error.code, "environment_offline");
    const registered = await ask("register", { executor_public_key: { x: 1 } });
    const connected = await ask("connect", { harness_public_key: { a: 1, b: 2 } });
    assert.equal(registered.environment_id, "e 1");
    assert.deepEqual(connected.executor_public_key, { x: 1 });
    const question = {
      harness_public_key: { b: 2, a: 1 },
      harness_key_authorization: connected.harness_key_authorization,
      executor_registration_id: registered.executor_registration_id,
    };
    assert.deepEqual(await ask("validate", { ...question, harness_public_key: { a: 1, b: 3 } }), { valid: false });
    assert.deepEqual(await ask("validate", question), { valid: !singleUse });
    assert.deepEqual(await ask("validate", { ...question, executor_registration_id: "r" }), { valid: false });
  }
});

Deno.test("the test registry answers as it is told: another status, a cut body, late, or never", async () => {
  const gone = new AbortController();
  await using world = TestWorld.start();
  const ask = (signal?: AbortSignal) => {
    const url = `${world.registryUrl}/cloud/environment/e/register`;
    return fetch(url, { method: "POST", body: "{}", ...(signal === undefined ? {} : { signal }) });
  };
  world.registry.next("register", { status: 503, body: "busy" }, { cutAfterBytes: 10 }, { delayMs: 1 }, { hang: true });
  const refused = await ask();
  assert.deepEqual([refused.status, await refused.text()], [503, "busy"]);
  await assert.rejects(ask().then((response) => response.text()));
  assert.equal((await (await ask()).json()).environment_id, "e");
  const never = assert.rejects(ask(gone.signal), { name: "AbortError" });
  await world.registry.asked("register", 4);
  gone.abort();
  await never;
});

Deno.test("a frame keeps everything but its id when it is moved to another stream", () => {
  const moved = withStreamId(dataFrame("one", 5, payload(3)), "another");
  assert.deepEqual(viewFrame(moved), viewFrame(dataFrame("another", 5, payload(3))));
  assert.equal(viewFrame(payload(5)), null);
});
