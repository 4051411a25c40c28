import assert from "node:assert/strict";
import { platformSocket } from "../../lib/client/platform_socket.ts";

/** Another platform's globals, as long as the scope lasts; undefined: they are not there. */
function platform(globals: Record<string, unknown>): Disposable {
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals)) {
    if (value === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, { value, configurable: true });
  }
  return {
    [Symbol.dispose]() {
      for (const [name, descriptor] of before) {
        if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
        else Object.defineProperty(globalThis, name, descriptor);
      }
    },
  };
}

class FakeSocket {
  static made: unknown[][] = [];
  constructor(...args: unknown[]) {
    FakeSocket.made.push(args);
  }
}

const TOKEN = { authorization: "Bearer t" };

Deno.test("a browser's WebSocket is asked for no headers, and refused in words where they are needed", () => {
  FakeSocket.made = [];
  using _browser = platform({ Deno: undefined, process: undefined, WebSocket: FakeSocket });
  platformSocket("ws://a/", {});
  assert.deepEqual(FakeSocket.made, [["ws://a/"]]);
  assert.throws(() => platformSocket("ws://a/", TOKEN), {
    kind: "configuration",
    message:
      "failed to configure exec-server websocket: this platform's WebSocket sends no headers, so it can show no " +
      "token",
  });
});

Deno.test("Node.js's WebSocket, and Bun's, is given the headers", () => {
  FakeSocket.made = [];
  using _node = platform({ Deno: undefined, process: { versions: { node: "22.0.0" } }, WebSocket: FakeSocket });
  platformSocket("ws://a/", TOKEN);
  assert.deepEqual(FakeSocket.made, [["ws://a/", { headers: TOKEN }]]);
});

Deno.test("a platform without a WebSocket is told of", () => {
  using _old = platform({ Deno: undefined, process: { versions: { node: "20.0.0" } }, WebSocket: undefined });
  assert.throws(() => platformSocket("ws://a/", {}), {
    kind: "configuration",
    message:
      "failed to configure exec-server websocket: this platform has no WebSocket (Node.js has one from version " +
      "22 on)",
  });
});
