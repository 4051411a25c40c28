/** What a client may ask about the network of one process, and what such a server asks and tells it. */

import { buffer } from "../buffered.ts";
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
} from "../codec.ts";
import type { Json } from "../json.ts";
import { defaulted, type Fields, type Members, MemberTable, omittable, optional, struct } from "../struct.ts";
import { taggedUnion, variant } from "./tagged_union.ts";

/** Meaningful only with a sandbox. */
export const managedNetwork = struct("ManagedNetworkSandboxContext", {
  allowLocalBinding: defaulted(boolean, false),
  loopbackPorts: defaulted(seq(u16), []),
  transparentTcp: defaulted(boolean, false),
  allowUnixSockets: defaulted(seq(string), []),
  dangerouslyAllowAllUnixSockets: defaulted(boolean, false),
});

/** A map by name, that the reference buffers and calls a structure. */
function openMap<T>(name: string, value: Codec<T>): Codec<ReadonlyMap<string, T>> {
  const members = map(value);
  return {
    decode(json) {
      if (!(json instanceof Map)) throw invalidType(json, `struct ${name}`);
      return members.decode(buffer(json), true);
    },
    encode: members.encode,
  };
}

/**
 * A structure that is never taken as an array. What is none of the `fields` is buffered, known to us or not; from
 * there the `buffered` ones are decoded, last.
 */
function openStruct<const F extends Fields, const B extends Fields>(
  name: string,
  fields: F,
  buffered: B,
): Codec<Members<F> & Members<B>> {
  const first = new MemberTable(`struct ${name}`, fields);
  const last = new MemberTable(`struct ${name}`, buffered);
  return {
    decode(json) {
      if (!(json instanceof Map)) throw invalidType(json, `struct ${name}`);
      const others = new Map<string, Json>();
      const known = first.fromObject(json, false, (key, member) => others.set(key, buffer(member)));
      return { ...known, ...last.fromObject(others, true) };
    },
    encode: (value) => ({ ...first.encode(value), ...last.encode(value) }),
  };
}

/** Where a credential that the program sees only masked comes from: handed on as it is, for want of a use. */
const credentialProvider: Codec<unknown> = {
  decode(json, buffered) {
    if (!(json instanceof Map) && !Array.isArray(json)) {
      throw invalidType(json, "struct CredentialProviderConfig", buffered);
    }
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
  unixSockets: optional(openMap("NetworkUnixSocketPermissions", enumeration(["allow", "deny"]))),
  allowLocalBinding: boolean,
  reviewDomains: defaulted(seq(string), []),
  transparentTcp: defaulted(boolean, false),
}, {
  credentialMasking: defaulted(boolean, false),
  credentialProviders: defaulted(map(credentialProvider), new Map()),
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
