/** Environments that connect when they are needed, and again after a session has failed for good. */
import assert from "node:assert/strict";
import type { Carrier } from "../../../lib/client/carrier.ts";
import { commandCarrier } from "../../../lib/client/command_carrier.ts";
import { deferredCarrier, Provisioning } from "../../../lib/client/deferred.ts";
import { Environments } from "../../../lib/client/environments.ts";
import { LazyEnvironment } from "../../../lib/client/lazy_environment.ts";
import { websocketCarrier } from "../../../lib/client/websocket_carrier.ts";
import { eventually } from "../../program/eventually.ts";
import { RunningServer } from "../../program/running_server.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import type { Case, Place } from "./case.ts";
import { SHORT } from "./through.ts";

const NOBODY = "ws://127.0.0.1:1";

function lazy(carrier: Carrier, options = {}): LazyEnvironment {
  return new LazyEnvironment(carrier, { ...SHORT, ...options, id: "lazy" });
}

/** A server of the case's own, for what it has to survive. */
function another({ command }: Place): Promise<RunningServer> {
  return RunningServer.start({ command });
}

/** Behind a registry, as the relay will be: which server is the executor can change. */
class Registry implements Carrier {
  readonly label = "registry";
  readonly resume = { pauseMs: () => 50 };
  readonly renewable = true;

  constructor(public url: string) {}

  async open(options: Parameters<Carrier["open"]>[0]) {
    const executor = this.url;
    return { ...await websocketCarrier(executor).open(options), executor };
  }

  lookUp = () => Promise.resolve({ executor: this.url, carrier: new Registry(this.url) });
}

export const LAZY: readonly Case[] = [
  {
    name: "whoever asks at first shares one attempt, and one session",
    async run({ url }) {
      await using proxy = new TcpProxy(url);
      await using environment = lazy(websocketCarrier(proxy.url));
      assert.deepEqual(await environment.status(), { state: "pending" });
      const [output, info] = await Promise.all([environment.run({ argv: ["echo", "hello"] }), environment.info()]);
      assert.equal(output.stdoutText, "hello\n");
      assert.equal(info.platformOs, "linux");
      assert.deepEqual(await environment.status(), { state: "ready" });
      assert.equal(proxy.accepted, 1);
    },
  },
  {
    name: "a first attempt that failed is not held against a URL",
    async run({ url }) {
      await using proxy = new TcpProxy(url);
      await using environment = lazy(websocketCarrier(proxy.url));
      proxy.refusing = true;
      await assert.rejects(environment.info(), {
        kind: "attempt",
        message: /^exec-server connection attempt failed: failed to connect to exec-server websocket `/,
      });
      assert.equal((await environment.status()).state, "disconnected");
      proxy.refusing = false;
      assert.equal((await environment.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
    },
  },
  {
    name: "a command that could not be started is remembered, in the same words for all",
    async run() {
      await using environment = lazy(commandCarrier({ program: "/nowhere/exec-server" }));
      const errors = await Promise.all([1, 2].map(() => environment.info().catch((error) => error)));
      assert.match(errors[0].message, /^exec-server connection attempt failed: failed to spawn exec-server: /);
      assert.equal(errors[0], errors[1]);
      assert.equal(await environment.info().catch((error) => error), errors[0]);
    },
  },
  {
    name: "after a session has failed for good the next caller gets a fresh one, and old processes stay failed",
    async run(place) {
      await using old = await another(place);
      let target = old.url;
      const carrier: Carrier = {
        ...{ label: "one after the other", resume: { pauseMs: () => 20 }, renewable: true },
        open: (options) => websocketCarrier(target).open(options),
      };
      await using environment = lazy(carrier);
      const states: string[] = [];
      environment.onConnectionState((state) => states.push(state));
      const process = await environment.start({ argv: ["sleep", "60"] });
      target = place.url;
      old.child.kill("SIGKILL");
      await assert.rejects(process.closed, { message: /; failed to resume exec-server session: .*unknown session id/ });
      const outputs = await Promise.all([1, 2].map((n) => environment.run({ argv: ["echo", `${n}`] })));
      assert.deepEqual(outputs.map(({ stdoutText }) => stdoutText), ["1\n", "2\n"]);
      await assert.rejects(process.write("x"), { message: /unknown session id/ });
      assert.deepEqual(states, ["connected", "disconnected", "connected"]);
    },
  },
  {
    name: "a fresh session that cannot be had is asked for again by the next caller",
    async run(place) {
      await using old = await another(place);
      let target = old.url;
      const carrier: Carrier = {
        ...{ label: "one after the other", resume: { pauseMs: () => 20 }, renewable: true },
        open: (options) => websocketCarrier(target).open(options),
      };
      await using environment = lazy(carrier, { attachDeadlineMs: 200, recoveryDeadlineMs: 250 });
      await environment.waitUntilReady();
      target = NOBODY;
      old.child.kill("SIGKILL");
      await eventually("the session has failed", () => assert.equal(environment.connectionState, "disconnected"));
      // This call waits for the recovery, which ends in vain; the next ones ask for a session in vain.
      await assert.rejects(environment.call("environment/status", null), {
        message: /recovery timed out after 200ms$/,
      });
      for (let call = 0; call < 2; call++) {
        await assert.rejects(environment.call("environment/status", null), { kind: "attempt" });
      }
      target = place.url;
      assert.equal((await environment.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
    },
  },
  {
    name: "one that must not wait says that it is not ready, and connects nobody",
    async run({ url }) {
      await using proxy = new TcpProxy(url);
      await using environment = lazy(websocketCarrier(proxy.url), { recovery: "failFast" });
      await assert.rejects(environment.info(), { message: "exec-server environment is not ready" });
      assert.equal(proxy.accepted, 0);
      environment.connectInBackground();
      await eventually("it is connected", () => assert.equal(environment.connectionState, "connected"));
      assert.equal((await environment.info()).platformOs, "linux");
      proxy.refusing = true;
      proxy.cut();
      await eventually("the loss is seen", () => assert.equal(environment.connectionState, "disconnected"));
      await assert.rejects(environment.info(), { message: "exec-server environment is recovering" });
    },
  },
  {
    name: "a deferred environment waits until it is ready, or says why it never will be",
    async run({ url }) {
      await using proxy = new TcpProxy(url);
      const provisioning = new Provisioning();
      await using environment = lazy(deferredCarrier(websocketCarrier(proxy.url), provisioning));
      const output = environment.run({ argv: ["echo", "hello"] });
      assert.deepEqual(await environment.status(), { state: "pending" });
      assert.equal(proxy.accepted, 0);
      provisioning.ready();
      assert.equal((await output).stdoutText, "hello\n");

      const words = async (settle: (provisioning: Provisioning) => void) => {
        const other = new Provisioning();
        await using environment = lazy(deferredCarrier(websocketCarrier(proxy.url), other));
        const info = environment.info();
        settle(other);
        return await info.then(() => assert.fail("it is there"), (error) => error.message);
      };
      const prefix = "exec-server connection attempt failed: environment unavailable: ";
      assert.equal(await words((other) => other.failed("no quota")), `${prefix}no quota`);
      const ended = await words((other) => other[Symbol.dispose]());
      assert.equal(ended, `${prefix}environment provisioning ended before completion`);
      assert.throws(() => deferredCarrier(deferredCarrier(websocketCarrier(url), provisioning), provisioning), {
        message: /nested deferred exec-server transports are unsupported/,
      });
    },
  },
  {
    name: "a refresh keeps the session of the same executor, and leaves a replaced one in words",
    async run(place) {
      await using replacement = await another(place);
      const registry = new Registry(place.url);
      await using environment = lazy(registry);
      const process = await environment.start({ argv: ["sleep", "60"] });
      await environment.refreshConnection();
      await process.write("").catch(() => {}); // it has no input, but it is known
      assert.equal((await process.read()).closed, false);
      registry.url = replacement.url;
      await environment.refreshConnection();
      await assert.rejects(process.closed, { message: "exec-server executor was replaced" });
      assert.equal((await environment.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
      await using plain = lazy(websocketCarrier(place.url));
      await assert.rejects(plain.refreshConnection(), { message: /connection refresh requires a Noise registry/ });
    },
  },
  {
    name: "an attempt that a refresh overtakes never becomes the environment's",
    async run(place) {
      await using slow = new TcpProxy(place.url, { admit: () => ({ silentMs: 60_000 }) });
      const registry = new Registry(slow.url);
      await using environment = lazy(registry);
      const overtaken = environment.info().then(() => assert.fail("it is connected"), (error) => error);
      await eventually("it connects", () => assert.equal(slow.accepted, 1));
      registry.url = place.url;
      await environment.refreshConnection();
      assert.match((await overtaken).message, /connection attempt was superseded$/);
      assert.equal((await environment.run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
    },
  },
  {
    name: "environments.toml names servers behind URLs and behind commands",
    async run({ url, command, directory }) {
      const [program, ...args] = command;
      const text = `
        default = "far"
        include_local = false
        [[environments]]
        id = "far"
        url = "${url}"
        auth_bearer_token = "ignored by a server without authentication"
        [[environments]]
        id = "near"
        program = ${JSON.stringify(program)}
        args = ${JSON.stringify([...args, "--listen", "stdio"])}
        cwd = ${JSON.stringify(new URL("../../../", import.meta.url).pathname)}
        env = { HOME = ${JSON.stringify(directory)}, CODEX_HOME = ${JSON.stringify(directory)} }`;
      await Deno.writeTextFile(`${directory}/environments.toml`, text);
      const env: Record<string, string> = { CODEX_HOME: directory, CODEX_EXEC_SERVER_URL: NOBODY };
      await using environments = await Environments.open({ ...SHORT, env: (name) => env[name] });
      assert.deepEqual(environments.ids, ["far", "near"]);
      for (const id of environments.ids) {
        const environment = await environments.get(id);
        assert.equal((await environment.run({ argv: ["echo", id] })).stdoutText, `${id}\n`);
      }
      assert.equal((await environments.get()).id, "far");
      await assert.rejects(environments.get("local"), { message: "environment `local` is not configured" });
    },
  },
  {
    name: "without a file CODEX_EXEC_SERVER_URL is the one environment, and none means none",
    async run({ url, directory }) {
      const open = (value: string) =>
        Environments.open({ ...SHORT, env: (name) => ({ CODEX_HOME: directory, CODEX_EXEC_SERVER_URL: value })[name] });
      await using remote = await open(` ${url} `);
      assert.deepEqual(remote.ids, ["remote"]);
      assert.equal((await (await remote.get()).run({ argv: ["echo", "hello"] })).stdoutText, "hello\n");
      await using none = await open("NONE");
      assert.deepEqual([none.ids, none.default], [[], null]);
      await using local = await open("");
      assert.deepEqual([local.ids, local.default], [["local"], "local"]);
    },
  },
];
