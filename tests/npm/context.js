/**
 * Runs the smoke test under Node.js in a context that has what a browser has, and nothing of Node.js: no `process`, no
 * `Buffer`, no `node:` modules, and `Symbol.dispose` only if the package brings it.
 */
import { readFile } from "node:fs/promises";
import vm from "node:vm";

const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "DOMException", "Event", "EventTarget", "FormData", "Headers"],
  ...["MessageEvent", "ReadableStream", "Request", "Response", "TextDecoder", "TextEncoder", "TransformStream", "URL"],
  ...["URLSearchParams", "WebSocket", "WritableStream", "atob", "btoa", "clearInterval", "clearTimeout", "console"],
  ...["crypto", "fetch", "performance", "queueMicrotask", "setInterval", "setTimeout", "structuredClone"],
];

const [entry, place] = process.argv.slice(2);
const context = vm.createContext(Object.fromEntries(WEB.map((name) => [name, globalThis[name]])));
// Streams and buffers of the outer world, which the platform's own objects are made of.
for (const name of ["ArrayBuffer", "Uint8Array"]) context[name] = globalThis[name];
const modules = new Map();

/** Each module once, however many ask for it at the same time. */
function load(url) {
  if (!modules.has(url)) modules.set(url, compile(url));
  return modules.get(url);
}

async function compile(url) {
  return new vm.SourceTextModule(await readFile(new URL(url), "utf8"), {
    context,
    identifier: url,
    importModuleDynamically: (specifier) => {
      throw new Error(`${specifier} is imported by ${url}, but a browser has no such module`);
    },
  });
}

const script = await load(new URL("smoke.js", import.meta.url).href);
const client = await load(entry);
for (const module of [script, client]) {
  await module.link((specifier, { identifier }) => {
    if (!specifier.startsWith(".")) {
      throw new Error(`${identifier} imports ${specifier}, which a browser cannot resolve`);
    }
    return load(new URL(specifier, identifier).href);
  });
  await module.evaluate();
}
const has = vm.runInContext("[typeof process, typeof Buffer, typeof Deno]", context);
if (has.some((type) => type !== "undefined")) throw new Error(`the context has more than a browser: ${has}`);
console.log(JSON.stringify(await script.namespace.smoke(client.namespace, JSON.parse(place))));
