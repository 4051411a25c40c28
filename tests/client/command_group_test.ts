import assert from "node:assert/strict";
import { CommandGroup, type GroupTarget, type SignalName } from "../../lib/client/command_group.ts";

/** A group that remembers its signals and ends when it is told to. */
class FakeGroup implements GroupTarget {
  readonly signals: (SignalName | 0)[] = [];
  readonly #exited = Promise.withResolvers<void>();
  readonly exited = this.#exited.promise;
  #timer: ReturnType<typeof setTimeout> | undefined;
  onSignal: (name: SignalName | 0) => boolean = () => true;

  signal(name: SignalName | 0): boolean {
    this.signals.push(name);
    return this.onSignal(name);
  }

  exit(): void {
    this.#timer ??= setTimeout(() => this.#exited.resolve(), 1);
  }
}

Deno.test("a command that leaves after SIGTERM takes the rest of its group with it", async () => {
  const fake = new FakeGroup();
  fake.onSignal = (name) => {
    if (name === "SIGTERM") fake.exit();
    return name !== 0;
  };
  const group = new CommandGroup(fake);
  group.end();
  group.end();
  await group.gone;
  assert.deepEqual(fake.signals, ["SIGTERM", "SIGKILL", 0]);
});

Deno.test("a command that does not leave in time is killed", async () => {
  const fake = new FakeGroup();
  fake.onSignal = (name) => {
    if (name === "SIGKILL") fake.exit();
    return name !== 0;
  };
  const group = new CommandGroup(fake, 5);
  group.end();
  await group.gone;
  assert.deepEqual(fake.signals, ["SIGTERM", "SIGKILL", "SIGKILL", 0]);
});

Deno.test("once a command has ended its group is signalled that one time, and only looked at", async () => {
  const fake = new FakeGroup();
  let looks = 0;
  fake.onSignal = (name) => name !== 0 || ++looks < 3;
  const group = new CommandGroup(fake, 1);
  fake.exit();
  await group.gone;
  group.end();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(fake.signals, ["SIGKILL", 0, 0, 0]);
});

Deno.test("what was killed and never waited for holds nobody up", async () => {
  const fake = new FakeGroup();
  const group = new CommandGroup(fake);
  fake.exit();
  await group.gone;
  assert.deepEqual(fake.signals, ["SIGKILL", 0, 0, 0, 0, 0]);
});
