import { trustedHostFlaw } from "../trusted_host.ts";
import type { OptionSpec } from "./arguments.ts";
import { EXIT_ON_STDIN_CLOSE } from "./exit_on_stdin_close.ts";

/** At most one of them says how the registry is shown who registers. */
const CREDENTIAL_OPTIONS = [
  "--use-agent-identity-auth",
  "--registration-bearer-stdin",
  "--registration-bearer-file",
  "--executor-credential-stdin",
  "--chatgpt-token-stdin",
  "--aws-sigv4",
];

const REMOTE = "--remote";
const SIGNED = ["--aws-sigv4"];

/** An option that makes no sense in local mode. */
function ofRemote(spec: OptionSpec): OptionSpec {
  const excludes = CREDENTIAL_OPTIONS.includes(spec.name)
    ? { excludes: CREDENTIAL_OPTIONS.filter((other) => other !== spec.name) }
    : {};
  return { ...spec, ...excludes, needs: spec.needs ?? [REMOTE] };
}

/** What remote mode and `forward` have in common, in the order of the help. */
export const SHARED_REMOTE_OPTIONS: readonly OptionSpec[] = [
  { name: REMOTE, value: "<URL>" },
  { name: "--environment-id", value: "<ID>" },
  { name: "--name", value: "<NAME>" },
  ofRemote({
    name: "--remote-transport",
    value: "<REMOTE_TRANSPORT>",
    choices: ["noise", "direct"],
    needsIf: { value: "direct", name: "--aws-sigv4" },
  }),
  ofRemote({
    name: "--trust-registry",
    value: "<HOST>",
    check: trustedHostFlaw,
    repeatable: true,
    // What these show goes to any registry.
    excludes: CREDENTIAL_OPTIONS.filter((name) => name !== "--use-agent-identity-auth"),
  }),
  ofRemote({ name: "--use-agent-identity-auth" }),
  ofRemote({ name: "--registration-bearer-stdin" }),
  ofRemote({ name: "--registration-bearer-file", value: "<PATH>", notEmpty: true }),
  ofRemote({ name: "--executor-credential-stdin" }),
  ofRemote({ name: "--aws-sigv4" }),
  ofRemote({ name: "--aws-profile", value: "<PROFILE>", needs: SIGNED }),
  ofRemote({ name: "--aws-region", value: "<REGION>", needs: SIGNED }),
  ofRemote({ name: "--aws-service", value: "<SERVICE>", needs: SIGNED }),
  ofRemote({ name: EXIT_ON_STDIN_CLOSE }),
];

/** The same as options of the server, whose `--remote` is one of several ways to be reached. */
export const REMOTE_OPTIONS: readonly OptionSpec[] = [
  ...SHARED_REMOTE_OPTIONS.map((spec) =>
    spec.name === REMOTE ? { ...spec, needs: ["--environment-id"], excludes: ["--listen"] } : spec
  ),
  ofRemote({ name: "--chatgpt-token-stdin" }),
  ofRemote({ name: "--chatgpt-account-id", value: "<ID>", needs: ["--chatgpt-token-stdin"] }),
];
