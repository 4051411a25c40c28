/** How a client asks for part of the server's own environment. */
export interface EnvPolicy {
  /** `core`: only {@linkcode CORE_NAMES}. */
  readonly inherit: "all" | "core" | "none";
  /** false: inherited names that look like secrets are dropped. */
  readonly ignoreDefaultExcludes: boolean;
  /** Patterns of inherited names to drop. */
  readonly exclude: readonly string[];
  /** Variables to add after the exclusions. */
  readonly set: ReadonlyMap<string, string>;
  /** If not empty: keep only names that match one of these patterns. */
  readonly includeOnly: readonly string[];
}

/** What `inherit: "core"` lets through, whatever the case of the letters; here in lower case. */
const CORE_NAMES: ReadonlySet<string> = new Set(
  ["home", "lang", "lc_all", "lc_ctype", "logname", "path", "shell", "temp", "tmp", "tmpdir", "user"],
);

/** Names that look like secrets. */
const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"].map(compile);

/** A setting of an exec-server itself, which no program gets, even if the client asks. */
const OWN_SETTING = "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE";

/** Likewise; being a secret, in whatever case it is spelled (here in lower). */
const OWN_SECRET = "codex_exec_server_noise_auth_token";

/**
 * The whole environment of a program to start.
 *
 * @param env What the client gave; never filtered, wins over everything else.
 * @param policy null: the program gets `env` and nothing else.
 * @param inherited The server's own environment.
 */
export function childEnvironment(
  env: ReadonlyMap<string, string>,
  policy: EnvPolicy | null,
  inherited: ReadonlyMap<string, string>,
): Map<string, string> {
  const variables = policy === null ? new Map<string, string>() : inheritedVariables(policy, inherited);
  for (const [name, value] of env) variables.set(name, value);
  for (const name of variables.keys()) {
    if (name === OWN_SETTING || name.toLowerCase() === OWN_SECRET) variables.delete(name);
  }
  return variables;
}

function inheritedVariables(policy: EnvPolicy, inherited: ReadonlyMap<string, string>): Map<string, string> {
  const exclude = policy.exclude.map(compile);
  if (!policy.ignoreDefaultExcludes) exclude.push(...DEFAULT_EXCLUDES);
  const includeOnly = policy.includeOnly.map(compile);

  const variables = new Map<string, string>();
  for (const [name, value] of policy.inherit === "none" ? [] : inherited) {
    if (policy.inherit === "core" && !CORE_NAMES.has(name.toLowerCase())) continue;
    if (!matchesAny(name, exclude)) variables.set(name, value);
  }
  for (const [name, value] of policy.set) variables.set(name, value);
  if (includeOnly.length > 0) {
    for (const name of variables.keys()) {
      if (!matchesAny(name, includeOnly)) variables.delete(name);
    }
  }
  return variables;
}

function matchesAny(name: string, patterns: readonly Pattern[]): boolean {
  if (patterns.length === 0) return false;
  const folded = foldCase(name);
  return patterns.some((matches) => matches(folded));
}

/** A text as its characters in lower case: one element per character, whatever its length. */
type Characters = string | readonly string[];

/**
 * Lower case character by character, so that `?` stands for one character and no letter becomes two. That differs from
 * lower-casing the whole text for a few (`İ`, a final `Σ`); in plain ASCII it is the same.
 */
function foldCase(text: string): Characters {
  // deno-lint-ignore no-control-regex -- the range of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text.toLowerCase() : Array.from(text, (character) => character.toLowerCase());
}

/** Whether a text in lower case is meant. */
type Pattern = (text: Characters) => boolean;

/** `*` stands for any characters, `?` for exactly one; nothing else is special (no classes, no escape). */
function compile(pattern: string): Pattern {
  const folded = foldCase(pattern);
  const part = typeof folded === "string" ? /^\*([^*?]*)\*$/.exec(folded)?.[1] : undefined;
  // Most patterns just look for a word, and every variable of ours is held against them at every start.
  return (text) =>
    part !== undefined && typeof text === "string" ? text.includes(part) : matchesWildcards(text, folded);
}

/** Only the last `*` is ever reconsidered, so the time is at most the product of the lengths. */
function matchesWildcards(text: Characters, pattern: Characters): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let starredUntil = 0;
  while (at < text.length) {
    if (next < pattern.length && pattern[next] === "*") {
      star = next++;
      starredUntil = at;
    } else if (next < pattern.length && (pattern[next] === "?" || pattern[next] === text[at])) {
      next++;
      at++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++starredUntil;
    } else {
      return false;
    }
  }
  while (next < pattern.length && pattern[next] === "*") next++;
  return next === pattern.length;
}
