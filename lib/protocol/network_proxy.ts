/** What a client may ask about the network of one process, and what such a server asks and tells it. */

import type { Json } from "../json.ts";
import { buffer } from "./buffered.ts";
import {
  anything,
  boolean,
  type Codec,
  enumeration,
  invalidType,
  map,
  nullable,
  seq,
  string,
  u16,
  u64,
} from "./codec.ts";
import { defaulted, type Fields, type Members, omittable, optional, struct } from "./struct.ts";
import { taggedUnion, variant } from "./tagged_union.ts";

/** Meaningful only with a sandbox. */
export const managedNetwork = struct("ManagedNetworkSandboxContext", {
  allowLocalBinding: defaulted(boolean, false),
  loopbackPorts: defaulted(seq(u16), []),
});

const unixSocketDecisions = map(enumeration(["allow", "deny"]));

/** A map that the reference calls a structure and buffers. */
const unixSockets: Codec<Decisions> = {
  decode(json) {
    if (!(json instanceof Map)) throw invalidType(json, "struct NetworkUnixSocketPermissions");
    return unixSocketDecisions.decode(buffer(json), true);
  },
  encode: unixSocketDecisions.encode,
};
type Decisions = ReadonlyMap<string, "allow" | "deny">;

/** A codec whose values the reference buffers. */
function buffered<T>(codec: Codec<T>): Codec<T> {
  return { decode: (json) => codec.decode(buffer(json), true), encode: codec.encode };
}

/** A structure that is never taken as an array, and whose unknown members are buffered as well. */
function openStruct<const F extends Fields>(name: string, fields: F): Codec<Members<F>> {
  const known = struct(name, fields);
  return {
    decode(json) {
      if (!(json instanceof Map)) throw invalidType(json, `struct ${name}`);
      for (const [key, member] of json as ReadonlyMap<string, Json>) if (!Object.hasOwn(fields, key)) buffer(member);
      return known.decode(json);
    },
    encode: known.encode,
  };
}

/** Where a credential that the program sees only masked comes from; no provider is known to us. */
const credentialProvider: Codec<unknown> = {
  decode(json, isBuffered) {
    if (!(json instanceof Map)) throw invalidType(json, "struct CredentialProviderConfig", isBuffered);
    return anything.decode(json);
  },
  encode: anything.encode,
};

const proxy = openStruct("RemoteNetworkProxyConfig", {
  enabled: boolean,
  enableSocks5: boolean,
  enableSocks5Udp: boolean,
  allowUpstreamProxy: boolean,
  dangerouslyAllowAllUnixSockets: boolean,
  mode: enumeration(["limited", "full"]),
  domains: optional(map(enumeration(["none", "allow", "deny"]))),
  unixSockets: optional(unixSockets),
  allowLocalBinding: boolean,
  reviewDomains: defaulted(seq(string), []),
  transparentTcp: defaulted(boolean, false),
  credentialMasking: defaulted(buffered(boolean), false),
  credentialProviders: defaulted(buffered(map(credentialProvider)), new Map()),
});

const NO_AUDIT_METADATA = {
  conversationId: null,
  appVersion: null,
  userAccountId: null,
  authMode: null,
  originator: null,
  userEmail: null,
  terminalType: null,
  model: null,
  slug: null,
};

const auditMetadata = struct("NetworkProxyAuditMetadata", {
  conversationId: optional(string),
  appVersion: optional(string),
  userAccountId: optional(string),
  authMode: optional(string),
  originator: optional(string),
  userEmail: optional(string),
  terminalType: optional(string),
  model: optional(string),
  slug: optional(string),
});

/** A filtering proxy for one process. */
export const networkProxy = struct("RemoteNetworkProxyLaunchConfig", {
  proxy,
  auditMetadata: defaulted(auditMetadata, NO_AUDIT_METADATA),
  environmentId: defaulted(nullable(string), null),
  executionId: defaulted(nullable(string), null),
  /** With it the server asks about hosts that the configuration does not decide; milliseconds, not 0. */
  policyDecisionTimeoutMs: defaulted(nullable(u64), null),
});

const protocol = enumeration(["http", "https_connect", "socks5_tcp", "socks5_udp"]);

/** The server's question about a host. */
export const policyRequestParams = struct("NetworkPolicyRequestParams", {
  processId: string,
  request: struct("NetworkPolicyRequest", { protocol, host: string, port: u16 }),
});

/** The client's answer; an error counts as deny. */
export const policyRequestResult = struct("NetworkPolicyRequestResponse", {
  decision: taggedUnion("NetworkDecision", "type", {
    allow: variant("NetworkDecision::Allow", {}),
    deny: variant("NetworkDecision::Deny", { reason: string }),
    ask: variant("NetworkDecision::Ask", { reason: string }),
  }),
});

/** One decision, whoever made it. */
export const policyDecision = struct("NetworkPolicyDecisionNotification", {
  processId: string,
  /** RFC 3339. */
  timestamp: string,
  scope: string,
  decision: string,
  source: string,
  reason: optional(string),
  protocol: string,
  host: string,
  port: u16,
  method: omittable(string),
  client: omittable(string),
  policyOverride: boolean,
});
