/**
 * What a policy allows, said once more and as directly as can be: for one path at a time, by looking at all entries. Slow,
 * without a plan, and without anything of the code that makes one.
 */

import type { Access, PolicyEntry, RestrictedFileSystem } from "../../lib/sandbox/policy.ts";
import type { FakeTree } from "./fake_tree.ts";

interface Real {
  readonly path: string;
  readonly exists: boolean;
  readonly firstMissing: string;
  readonly links: readonly string[];
}

interface Named {
  readonly spelled: string;
  readonly real: Real;
  readonly access: Access;
}

export class PolicyOracle {
  readonly #named: readonly Named[];
  readonly #grantsRoot: boolean;

  constructor(readonly policy: RestrictedFileSystem, readonly tree: FakeTree) {
    this.#grantsRoot = policy.entries.some(({ path, access }) => path.kind === "root" && access !== "deny");
    this.#named = policy.entries.flatMap((entry) =>
      this.#spelled(entry).map((spelled) => ({ ...spelled, real: this.real(spelled.spelled) }))
    );
  }

  /** Why no sandbox can hold it; by kind, not in words. */
  refuses(): boolean {
    return this.policy.entries.some((entry) => this.#refusesPattern(entry)) ||
      this.#writableDirectories().some((root) => this.#refusesNames(root)) ||
      this.#named.some((named) => named.access !== "write" && this.#refusesPath(named));
  }

  /** @param path Canonical. */
  access(path: string): "none" | "read" | "write" {
    const access = this.#byEntries(path);
    if (access === "deny" || access === undefined) return "none";
    if (access === "read") return "read";
    return this.#isProtected(path) ? "read" : "write";
  }

  /** Whether a missing path may be made. */
  mayCreate(path: string): boolean {
    return this.access(path) === "write" && !this.#named.some((named) => {
      if (named.access === "write" || named.real.exists || !under(path, named.real.firstMissing)) return false;
      return named.access === "deny" || !this.#isWritten(named.real.path);
    });
  }

  /** Whether a denial names a missing path, or one above that is the first to be missing. */
  isDeniedBeforehand(path: string): boolean {
    return this.#named.some(({ real, access }) =>
      access === "deny" && !real.exists && real.path === real.firstMissing && under(path, real.path)
    );
  }

  /** Where a path leads, by starting over at each link. */
  real(path: string, links: readonly string[] = []): Real {
    const names = path.split("/").filter((name) => name !== "" && name !== ".");
    let at = "";
    for (const [index, name] of names.entries()) {
      if (name === "..") {
        at = at.slice(0, Math.max(0, at.lastIndexOf("/")));
        continue;
      }
      const next = `${at}/${name}`;
      const kind = this.tree.kindOf(next);
      const rest = names.slice(index + 1).join("/");
      if (kind === "link") {
        if (links.length === 40) return { path: next, exists: false, firstMissing: next, links };
        const target = this.tree.readLink(next);
        return this.real(`${target.startsWith("/") ? target : `${at}/${target}`}/${rest}`, [...links, next]);
      }
      if (kind === "missing") {
        const url = new URL(`file://${next}/${rest}`).pathname.replace(/\/$/, "");
        return { path: url, exists: false, firstMissing: next, links };
      }
      at = next;
    }
    const found = at === "" ? "/" : at;
    return { path: found, exists: true, firstMissing: found, links };
  }

  /** The longest entry at or above a path, or the strongest of these; what is read below a denial stays denied. */
  #byEntries(path: string): Access | undefined {
    const above = this.#named.filter(({ real }) => real.exists && under(path, real.path));
    const longest = Math.max(...above.map(({ real }) => real.path.length));
    const deciding = above.filter(({ real }) => real.path.length === longest).map(({ access }) => access);
    if (deciding.includes("deny")) return longest === 1 ? undefined : "deny";
    if (deciding.includes("write")) return "write";
    if (deciding.length === 0) return undefined;
    return longest > 1 &&
        this.#byEntries(up(above.find(({ real }) => real.path.length === longest)!.real.path)) === "deny"
      ? "deny"
      : "read";
  }

  #writableDirectories(): string[] {
    return this.#named
      .filter(({ real }) => real.exists && real.path !== "/" && this.tree.kindOf(real.path) === "directory")
      .map(({ real }) => real.path)
      .filter((path) => this.#byEntries(path) === "write");
  }

  /** Nothing that is asked for lies between a protected name and the path. */
  #isProtected(path: string): boolean {
    const isNarrower = (name: string) =>
      this.#named.some(({ real, access }) =>
        access === "write" && real.exists && real.path !== name && under(real.path, name) && under(path, real.path)
      );
    return this.#writableDirectories().flatMap((root) => this.#protected(root))
      .some((name) => under(path, name) && !isNarrower(name));
  }

  #protected(root: string): string[] {
    const names = [".git", ".codex", ".agents", ".aws"].map((name) => `${root}/${name}`);
    const repository = this.#repository(root);
    const all = repository === undefined ? names : [...names, repository.path];
    return all.filter((name) => !this.#isWritten(name));
  }

  #repository(root: string): Real | undefined {
    if (this.tree.kindOf(`${root}/.git`) !== "file") return undefined;
    const text = this.tree.readStart(`${root}/.git`, 1000);
    if (!text.startsWith("gitdir: ")) return undefined;
    const target = text.slice(8).trim();
    const spelled = target.startsWith("/") ? target : `${root}/${target}`;
    const real = this.real(spelled);
    const isInside = (path: string) => path !== root && under(path, root);
    if (!real.exists || this.#isWritten(real.path)) return undefined;
    if (isInside(real.path)) return real;
    // It protects nothing then, but must not depend on links.
    return under(new URL(`file://${spelled}`).pathname, root) ? { ...real, path: "/nowhere" } : undefined;
  }

  /** Whether an entry for writing names exactly this, by its real path or by where it was looked for. */
  #isWritten(path: string): boolean {
    return this.#named.some(({ spelled, real, access }) => {
      const parent = this.real(up(spelled)).path;
      const place = `${parent === "/" ? "" : parent}/${spelled.slice(spelled.lastIndexOf("/") + 1)}`;
      const isSure = real.exists || !real.links.some((link) => this.#byEntries(link) === "write");
      return access === "write" && isSure && (real.path === path || place === path);
    });
  }

  #refusesNames(root: string): boolean {
    const names = [".git", ".codex", ".agents", ".aws"].map((name) => `${root}/${name}`);
    return names.some((name) => this.tree.kindOf(name) === "link" && !this.#isWritten(name)) ||
      (this.#repository(root)?.links ?? []).some((link) =>
        this.access(up(link)) === "write" && this.access(link) === "write"
      );
  }

  #refusesPath({ real, access }: Named): boolean {
    const isOutdone = access === "read" && real.exists &&
      this.#named.some((other) => other.real.exists && other.real.path === real.path && other.access !== "read");
    if (isOutdone) return false;
    if (real.links.some((link) => this.access(link) === "write")) return true;
    if (real.exists || this.access(real.firstMissing) !== "write") return false;
    if (access === "read" && this.#isWritten(real.path)) return false;
    return this.tree.kindOf(real.firstMissing) === "link" || this.tree.kindOf(up(real.firstMissing)) === "file";
  }

  #refusesPattern({ path, access }: PolicyEntry): boolean {
    if (path.kind !== "glob" || access !== "deny") return false;
    const prefix = prefixOf(path.pattern);
    const { exists, firstMissing } = this.real(prefix);
    if (prefix === "/" || (!exists && this.tree.kindOf(firstMissing) === "link")) return true;
    return this.#matches(path.pattern).length > 0 &&
      this.real(prefix).links.some((link) => this.access(link) === "write");
  }

  #spelled({ path, access }: PolicyEntry): { spelled: string; access: Access }[] {
    const one = (spelled: string) => [{ spelled, access }];
    switch (path.kind) {
      case "path":
        return one(path.path);
      case "root":
        return one("/");
      case "slashTmp":
        return one("/tmp");
      case "tmpdir":
        return this.policy.tmpdir === null ? [] : one(this.policy.tmpdir);
      case "minimal":
        if (access === "deny" || this.#grantsRoot) return [];
        return ["bin", "etc", "lib", "lib64", "sbin", "usr"].map((name) => ({ spelled: `/${name}`, access: "read" }));
      case "unknown":
        return [];
      case "glob":
        // Links are no longer on the way to a file that was found.
        return access === "deny" ? this.#matches(path.pattern).flatMap(one) : [];
      case "projectRoots":
        return this.policy.workspaceRoots.flatMap((root): { spelled: string; access: Access }[] => {
          if (path.subpath === null) return one(root);
          if (!/^\/|(^|\/)\.\.?(\/|$)/.test(path.subpath)) return one(`${root}/${path.subpath}`.replace(/\/+/g, "/"));
          return access === "write" ? [] : [{ spelled: root, access: "deny" }];
        });
    }
  }

  /** The real paths of all files whose spelled path fits the pattern. */
  #matches(pattern: string): string[] {
    const prefix = prefixOf(pattern);
    const start = this.real(prefix);
    if (prefix === "/" || !start.exists) return [];
    const expression = new RegExp(`^${
      pattern.slice(prefix.length + 1)
        .replace(/\./g, "\\.")
        .replace(/\{([^}]*)\}/g, (_, inside: string) => `(?:${inside.replaceAll(",", "|")})`)
        .replace(/\*\*\/|\*\*$|\*|\?(?!:)/g, (wildcard) =>
          ({ "**/": "(?:[^/]+/)*", "**": ".+", "*": "[^/]*", "?": "[^/]" })[wildcard]!)
    }$`);
    return this.#below(start.path)
      .filter((path) => {
        const rest = path.slice(start.path.length + 1);
        return rest.split("/").length <= (this.policy.globScanMaxDepth ?? Infinity) && expression.test(rest);
      })
      .map((path) => this.real(path))
      .filter(({ exists, path }) => exists && this.tree.kindOf(path) === "file").map(({ path }) => path);
  }

  /** Everything below a directory that is none itself. */
  #below(directory: string): string[] {
    return [...this.tree.list(directory)].flatMap(({ name, kind }) => {
      const path = `${directory === "/" ? "" : directory}/${name}`;
      return kind === "directory" ? this.#below(path) : [path];
    });
  }
}

function under(path: string, above: string): boolean {
  return above === "/" || `${path}/`.startsWith(`${above}/`);
}

function up(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function prefixOf(pattern: string): string {
  return pattern.slice(0, pattern.slice(0, pattern.search(/[*?[{]/)).lastIndexOf("/")) || "/";
}
