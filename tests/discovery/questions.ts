import type { DiscoveryHost } from "../../lib/discovery/host.ts";
import { DiscoveryFiles } from "../../lib/discovery/files.ts";
import { systemFiles } from "../../lib/fs/backend.ts";
import { ExecError } from "../../lib/errors.ts";
import { parseJson } from "../../lib/json.ts";
import { silentLog } from "../../lib/log.ts";
import { REQUESTS } from "../../lib/protocol/methods.ts";
import { toRpcError } from "../../lib/rpc/error_code.ts";
import { type DiscoveryHandlerOptions, discoveryHandlers } from "../../lib/server/discovery_handlers.ts";
import { type CallContext, EncodedResult } from "../../lib/server/handler.ts";
import { isRoot } from "../fs/scratch.ts";

export type DiscoveryName = "environmentConfig/read" | "capabilityRoots/discoverV1" | "capabilities/discoverV2";

/** The variables that the server was started with; null: not there. */
export interface Environment {
  readonly HOME?: string | null;
  readonly CODEX_HOME?: string | null;
}

/** A machine below a directory: its users' home, the directory for all users, the server's working directory. */
export function hostBelow(root: string, environment: Environment = {}): DiscoveryHost {
  const { HOME = `${root}/home`, CODEX_HOME = `${root}/codex` } = environment;
  return {
    // Who has no HOME lives where the password database says.
    home: HOME || "/nonexistent",
    codexHome: CODEX_HOME,
    hostname: "host.example",
    systemConfigDir: `${root}/etc`,
    cwd: `${root}/work`,
  };
}

/** A machine without any sandbox. */
function unconfinable(): Promise<never> {
  return Promise.reject(new ExecError("internal", "fs sandbox helper failed with status none"));
}

/** What the wire would say to a request, as a value. */
export async function answerTo(
  host: DiscoveryHost,
  method: DiscoveryName,
  params: unknown,
  { signal = new AbortController().signal, within = unconfinable }: {
    readonly signal?: AbortSignal;
    readonly within?: DiscoveryHandlerOptions["within"];
  } = {},
): Promise<unknown> {
  using operations = await systemFiles({ log: silentLog });
  const handlers = discoveryHandlers({
    files: ({ signal }) => new DiscoveryFiles(operations, { signal, budgetMs: () => 0.5 }),
    within,
    host: () => host,
    keepsSecrets: false,
  });
  try {
    const decoded = REQUESTS[method].params.decode(parseJson(JSON.stringify(params)));
    const handler = handlers[method] as (params: unknown, context: CallContext) => Promise<unknown>;
    const result = await handler(decoded, { signal } as CallContext);
    if (result instanceof EncodedResult) return { result: JSON.parse(result.json) };
    return { result: REQUESTS[method].result.encode(result as never) };
  } catch (error) {
    const rpcError = toRpcError(error);
    if (rpcError === undefined) throw error;
    return { error: rpcError };
  }
}

const NOBODY = 65534;

/** Does something with the rights of an ordinary user on files; who is one already goes on being it. */
export async function asOrdinaryUser<T>(act: () => Promise<T>): Promise<T> {
  if (!isRoot) return await act();
  const library = Deno.dlopen("libc.so.6", { setfsuid: { parameters: ["u32"], result: "i32" } });
  try {
    library.symbols.setfsuid(NOBODY);
    return await act();
  } finally {
    library.symbols.setfsuid(0);
    library.close();
  }
}

// What is loaded when it is needed lies where an ordinary user may not look.
(await systemFiles({ log: silentLog }))[Symbol.dispose]();
await import("../../lib/discovery/environment_config.ts");
await import("../../lib/discovery/roots/discover_root.ts");
await import("../../lib/discovery/installed/discover_installed.ts");
