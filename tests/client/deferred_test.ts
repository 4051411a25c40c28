import assert from "node:assert/strict";
import { deferredCarrier, isDeferred, Provisioning } from "../../lib/client/deferred.ts";
import { LazyClient } from "../../lib/client/lazy_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { idle, ScriptedCarrier } from "../support/scripted_server.ts";

const ATTEMPT = "exec-server connection attempt failed: ";

Deno.test("a deferred carrier is as the one behind it, and connects when its owner says that it can", async () => {
  const carrier = new ScriptedCarrier();
  const provisioning = new Provisioning();
  const deferred = deferredCarrier(carrier, provisioning);
  assert.equal(deferred.label, carrier.label);
  assert.equal(deferred.resume, carrier.resume);
  assert.equal(deferred.renewable, true);
  assert.equal(deferred.lookUp, undefined);
  assert.deepEqual([isDeferred(deferred), isDeferred(carrier)], [true, false]);
  await using client = new LazyClient(deferred, { clock: new ManualClock() });
  const got = client.get();
  await idle();
  assert.equal(carrier.attempts, 0);
  assert.deepEqual(await client.status(), { state: "pending" });
  provisioning.ready();
  provisioning.failed("too late");
  const server = await carrier.acceptAndShakeHands();
  assert.equal((await got).state, "connected");
  await server.close();
  await carrier.acceptAndShakeHands();
  assert.equal(carrier.attempts, 2, "later connections wait for nobody");
});

Deno.test("an environment whose making failed says so, as often as it is asked", async () => {
  const carrier = new ScriptedCarrier();
  const provisioning = new Provisioning();
  await using client = new LazyClient(deferredCarrier(carrier, provisioning));
  const got = assert.rejects(client.get(), {
    kind: "attempt",
    message: `${ATTEMPT}environment unavailable: no machine left`,
  });
  provisioning.failed("no machine left");
  provisioning.ready();
  await got;
  await assert.rejects(client.get(), { message: `${ATTEMPT}environment unavailable: no machine left` });
  assert.equal(carrier.attempts, 0);
});

Deno.test("an owner who goes away first is told of, also to those who come later", async () => {
  const message = "environment unavailable: environment provisioning ended before completion";
  let deferred;
  {
    using provisioning = new Provisioning();
    deferred = deferredCarrier(new ScriptedCarrier(), provisioning);
  }
  await idle();
  await assert.rejects(deferred.open({ signal: new AbortController().signal }), { kind: "unavailable", message });
});

Deno.test("who waits for an environment that is not ready can give up", async () => {
  const giveUp = new AbortController();
  const carrier = new ScriptedCarrier();
  const opening = deferredCarrier(carrier, new Provisioning()).open({ signal: giveUp.signal });
  giveUp.abort(new Error("no more"));
  await assert.rejects(opening, { message: "no more" });
  assert.equal(carrier.attempts, 0);
});

Deno.test("deferred inside deferred is refused", () => {
  const once = deferredCarrier(new ScriptedCarrier(), new Provisioning());
  assert.throws(() => deferredCarrier(once, new Provisioning()), {
    kind: "protocol",
    message: "exec-server protocol error: nested deferred exec-server transports are unsupported",
  });
});

Deno.test("a deferred carrier looks up who executes as the one behind it does", async () => {
  const behind = Object.assign(new ScriptedCarrier(), {
    executor: "a",
    lookUp() {
      return Promise.resolve({ executor: this.executor, carrier: behind });
    },
  });
  const deferred = deferredCarrier(behind, new Provisioning());
  assert.equal((await deferred.lookUp?.(new AbortController().signal))?.executor, "a");
});
