/** Discovery: where names meet deeds. What carries them out is loaded with the first request. */

import type { DiscoveryFiles } from "../discovery/files.ts";
import type { DiscoveryHost } from "../discovery/host.ts";
import { ExecError } from "../errors.ts";
import type { MaybePromise } from "../fs/operations.ts";
import type { PathUri } from "../path_uri.ts";
import type { Params } from "../protocol/methods.ts";
import { confinesReading, requireCwd, unconfinedPaths } from "./fs_sandbox.ts";
import type { CallContext, Handler } from "./handler.ts";

type DiscoveryName = "environmentConfig/read" | "capabilityRoots/discoverV1";
type DiscoveryHandlers = { readonly [M in DiscoveryName]: Handler<M> };

export interface DiscoveryHandlerOptions {
  /** Files as one request sees them. */
  readonly files: (context: CallContext) => MaybePromise<DiscoveryFiles>;
  readonly host: () => MaybePromise<DiscoveryHost>;
}

/** Roots of one request; more are refused. Source: as the reference. */
const MAX_ROOTS = 128;
/** Roots that are looked at side by side. */
const ROOTS_AT_ONCE = 8;

export function discoveryHandlers({ files, host }: DiscoveryHandlerOptions): DiscoveryHandlers {
  return {
    "environmentConfig/read": async ({ cwd, configPaths, requirementsPaths }, context) => {
      const { checkPaths, readEnvironmentConfig } = await import("../discovery/environment_config.ts");
      checkPaths(configPaths, requirementsPaths);
      const query = { cwd: localUri(cwd), configPaths, requirementsPaths };
      return await readEnvironmentConfig(query, await host(), await files(context));
    },
    "capabilityRoots/discoverV1": async ({ roots }, context) => {
      if (roots.length > MAX_ROOTS) {
        throw new ExecError("invalidRequest", `capability root discovery accepts at most ${MAX_ROOTS} roots`);
      }
      const { discoverRoot, failedRoot, inspectionFailure } = await import("../discovery/roots/discover_root.ts");
      const seen = await files(context);
      return {
        roots: await eachOf(roots, async ({ id, path, sandbox }) => {
          const refusal = refusalOf(sandbox, path);
          const discovery = refusal === undefined
            ? await discoverRoot(path.text, seen)
            : failedRoot(inspectionFailure(path.text, refusal));
          return { id, path: path.text, ...discovery };
        }),
      };
    },
  };
}

/** As a URI, if this machine has such paths. */
function localUri(uri: PathUri): string {
  try {
    uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError("invalidParams", error.message, { cause: error });
  }
  return uri.text;
}

/** Why a root may not be looked at under that sandbox. */
function refusalOf(sandbox: Params<"capabilityRoots/discoverV1">["roots"][number]["sandbox"], path: PathUri) {
  try {
    requireCwd(sandbox);
    unconfinedPaths(sandbox, confinesReading(sandbox), [path]);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    return error.message;
  }
}

/** The results in the order of the items, some of which are worked on side by side. */
async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const place = next++;
      results[place] = await work(items[place] as T);
    }
  };
  await Promise.all(Array.from({ length: ROOTS_AT_ONCE }, worker));
  return results;
}
