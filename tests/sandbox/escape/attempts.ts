import type { Attempt } from "./attempt.ts";
import { CALLS } from "./attempts/calls.ts";
import { FORGED } from "./attempts/forged.ts";
import { FILES } from "./attempts/files.ts";
import { GIT } from "./attempts/git.ts";
import { METADATA } from "./attempts/metadata.ts";
import { MOUNTS } from "./attempts/mounts.ts";
import { NETWORK } from "./attempts/network.ts";
import { PROCESSES } from "./attempts/processes.ts";
import { REQUESTS } from "./attempts/requests.ts";

export const ATTEMPTS: readonly Attempt[] = [
  ...[FILES, GIT, METADATA, MOUNTS, PROCESSES, CALLS, NETWORK, REQUESTS, FORGED].flat(),
];
