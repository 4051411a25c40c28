/** Discovery: where names meet deeds. What carries them out is loaded with the first request. */

import type { DiscoveryFiles } from "../discovery/files.ts";
import type { DiscoveryHost } from "../discovery/host.ts";
import { ExecError } from "../errors.ts";
import type { MaybePromise, NativePath } from "../fs/operations.ts";
import { toWellFormedJson } from "../json.ts";
import { lazily } from "../lazily.ts";
import type { PathUri } from "../path_uri.ts";
import { discoveredRoot } from "../protocol/discovery.ts";
import type { Result } from "../protocol/methods.ts";
import {
  confinesContents,
  discoveryConfinement,
  fileConfinement,
  nativePaths,
  requireCwd,
} from "../protocol/fs_sandbox.ts";
import type { ProgramConfinement } from "../sandbox/confine_program.ts";
import { type CallContext, EncodedResult, type Handler } from "./handler.ts";

type DiscoveryName = "environmentConfig/read" | "capabilityRoots/discoverV1" | "capabilities/discoverV2";
type DiscoveryHandlers = { readonly [M in DiscoveryName]: Handler<M> };

export interface DiscoveryHandlerOptions {
  /** Files as one request sees them. */
  readonly files: (context: CallContext) => MaybePromise<DiscoveryFiles>;
  /** Files as a sandbox shows them, in one view. */
  readonly within: <T>(
    context: CallContext,
    demand: () => ProgramConfinement,
    act: (files: DiscoveryFiles) => Promise<T>,
  ) => Promise<T>;
  readonly host: () => MaybePromise<DiscoveryHost>;
  /** See {@linkcode confinesContents}. */
  readonly keepsSecrets: boolean;
}

const environmentConfig = lazily(() => import("../discovery/environment_config.ts"));
const rootDiscovery = lazily(() => import("../discovery/roots/discover_root.ts"));
const ordered = lazily(() => import("../discovery/in_order.ts"));
const installedDiscovery = lazily(() => import("../discovery/installed/discover_installed.ts"));

/** Roots of one request; more are refused. Source: as the reference. */
const MAX_ROOTS = 128;
/** Roots that are looked at side by side. */
const ROOTS_AT_ONCE = 8;
/**
 * Most characters of one answer's roots; a root that would exceed it has an error in the place of its files. A root has
 * at most 16 MiB of files, which escapes make up to six times as long; the engine's longest string has 512 million.
 */
const MAX_ANSWER_CHARS = 256 * 1024 * 1024;

export function discoveryHandlers({ files, within, host, keepsSecrets }: DiscoveryHandlerOptions): DiscoveryHandlers {
  return {
    "environmentConfig/read": async ({ cwd, configPaths, requirementsPaths }, context) => {
      const { checkPaths, readEnvironmentConfig } = await environmentConfig();
      checkPaths(configPaths, requirementsPaths);
      const query = { cwd: nativeCwd(cwd), configPaths, requirementsPaths };
      return await readEnvironmentConfig(query, await host(), await files(context));
    },
    "capabilityRoots/discoverV1": async ({ roots }, context) => {
      for (const { sandbox } of roots) requireCwd(sandbox);
      if (roots.length > MAX_ROOTS) {
        throw new ExecError("invalidRequest", `capability root discovery accepts at most ${MAX_ROOTS} roots`);
      }
      const { discoverRoot, failedRoot, inspectionFailure } = await rootDiscovery();
      const { inOrder } = await ordered();
      const seen = await files(context);
      const discoveries = inOrder(roots, ROOTS_AT_ONCE, async ({ id, path, sandbox }) => {
        const discover = (files: DiscoveryFiles) => discoverRoot(path.text, files);
        const discovery = await viewed(async () => {
          nativePaths(sandbox, path);
          return confinesContents(sandbox, keepsSecrets)
            ? await within(context, () => fileConfinement(sandbox), discover)
            : await discover(seen);
        }, (refusal) => failedRoot(inspectionFailure(path.text, refusal)));
        return { id, path: path.text, ...discovery };
      });
      return new EncodedResult(
        `{"roots":[${(await encodedWithin(MAX_ANSWER_CHARS, discoveries, failedRoot)).join()}]}`,
      );
    },
    "capabilities/discoverV2": async ({ sandbox }, context) => {
      const { discoverInstalled, findInstalled } = await installedDiscovery();
      const seen = await files(context);
      const found = await findInstalled(await host(), seen);
      const discover = (files: DiscoveryFiles) => discoverInstalled(found, files);
      // Where nothing is installed, there is nothing to be confined.
      return found.locations.length > 0 && confinesContents(sandbox, keepsSecrets)
        ? await within(context, () => discoveryConfinement(sandbox), discover)
        : await discover(seen);
    },
  };
}

type DiscoveredRoot = Result<"capabilityRoots/discoverV1">["roots"][number];

/** The roots as JSON; as short as can be from the first on that would make them longer than `maxChars` together. */
export async function encodedWithin(
  maxChars: number,
  roots: AsyncIterable<DiscoveredRoot>,
  failedRoot: (error: string) => Omit<DiscoveredRoot, "id" | "path">,
): Promise<string[]> {
  const texts: string[] = [];
  let left = maxChars;
  for await (const root of roots) {
    const text = toWellFormedJson(discoveredRoot.encode(root));
    if (text.length <= left) {
      texts.push(text);
      left -= text.length;
      continue;
    }
    const error = `the answer would have more than ${maxChars} characters: ask for fewer capability roots at once`;
    texts.push(toWellFormedJson(discoveredRoot.encode({ id: root.id, path: root.path, ...failedRoot(error) })));
  }
  return texts;
}

/** The path itself, if this machine has such paths. */
function nativeCwd(uri: PathUri): NativePath {
  try {
    return uri.toNative();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    throw new ExecError("invalidParams", error.message, { cause: error });
  }
}

/** What is discovered, or what is said of a place that cannot be looked at. */
async function viewed<T>(discover: () => Promise<T>, refused: (reason: string) => T): Promise<T> {
  try {
    return await discover();
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    return refused(error.message);
  }
}
