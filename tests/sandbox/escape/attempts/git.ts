/** Ways to what git runs or trusts: `.git` and its kind below directories that may be written. */
import type { Attempt } from "../attempt.ts";

export const GIT: readonly Attempt[] = [
  {
    name: "write into .git",
    topic: ".git by rename",
    against: "files",
    script: `
      spit($_) for ".git/config", ".git/hooks/new", "mine/.git/config", "scratch/../.git/config";
      link(".git/config", "scratch/twin") && spit("scratch/twin"); chmod(0777, ".git/config"); utime(1, 1, ".git/config");
      unlink(".git/config");`,
  },
  {
    name: "rename .git away and put another in its place",
    topic: ".git by rename",
    against: "files",
    script: `
      for my $root (".", "mine") {
        try("rename", rename("$root/.git", "$root/away")); try("mkdir", mkdir("$root/.git"));
        try("mkdir", mkdir("$root/.git/hooks")); spit("$root/.git/hooks/new");
      }`,
  },
  {
    name: "exchange .git with a directory of ours",
    topic: ".git by rename",
    against: "files",
    script: `
      call("renameat2", $HERE, "scratch", $HERE, ".git", 2); call("renameat2", $HERE, "mine/.git", $HERE, "scratch", 2);`,
  },
  {
    name: "remove .git",
    topic: ".git by rename",
    against: "files",
    script: `sh('rm -rf .git mine/.git; mkdir -p .git/hooks');`,
  },
  {
    name: "replace the directory that .git is in",
    topic: ".git by its parent",
    against: "files",
    script: `
      for my $root ("mine", "repo", "worktree") {
        try("rename", rename($root, "$root.old")); mkdir($root); mkdir("$root/.git"); spit("$root/.git/hook");
      }`,
  },
  {
    name: "replace the workspace",
    topic: ".git by its parent",
    against: "files",
    script: 'try("rename", rename($ws, "$ws.old")); mkdir($ws); mkdir("$ws/.git"); spit("$ws/.git/config");',
  },
  {
    name: "exchange the directory that .git is in",
    topic: ".git by its parent",
    against: "files",
    script: `
      mkdir("scratch/.git"); spit("scratch/.git/config"); call("renameat2", $HERE, "scratch", $HERE, "mine", 2);
      call("renameat2", $HERE, "scratch", $HERE, "repo", 2);`,
  },
  {
    name: "make a .git where there is none",
    topic: "missing .git",
    against: "files",
    script: `
      try("mkdir", mkdir("repo/.git")); try("mkdir", mkdir("repo/.git/hooks")); spit("repo/.git/hooks/new");
      spit("repo/.git/config"); rmdir("repo/.git"); spit("repo/.git");`,
  },
  {
    name: "make a .git by a link or a rename",
    topic: "missing .git",
    against: "files",
    script: `
      try("symlink", symlink("../scratch", "repo/.git")); mkdir("repo/other"); spit("repo/other/config");
      try("rename", rename("repo/other", "repo/.git")); try("link", link("scratch/file", "repo/.git"));`,
  },
  {
    name: "make the other names that agents trust",
    topic: "missing .git",
    against: "files",
    script: `
      for my $root (".", "repo") {
        for my $name (".codex", ".agents", ".aws") { mkdir("$root/$name"); spit("$root/$name/config"); spit("$root/$name") }
      }`,
  },
  {
    name: "point a .git file elsewhere, and write where it points",
    topic: ".git by rename",
    against: "files",
    script: `
      spit("worktree/.git"); spit("worktree/real/config"); spit("worktree/real/hook"); spit("scratch/new");
      try("rename", rename("scratch/new", "worktree/.git")); unlink("worktree/.git"); spit("worktree/.git");
      try("rename", rename("worktree/real", "worktree/away")); mkdir("worktree/real"); spit("worktree/real/config");`,
  },
  {
    name: "make a .git when another program in the same sandbox ends",
    topic: "missing .git",
    against: "files",
    script: `
      for (1 .. 4000) {
        mkdir("repo/.git/hooks") and last if mkdir("repo/.git") or rmdir("repo/.git");
        last if -e "scratch/stop"; select(undef, undef, undef, 0.001);
      }
      mkdir("repo/.git"); spit("repo/.git/hook");`,
    async meanwhile({ place, run }) {
      for (let times = 0; times < 3; times++) await run("");
      await Deno.writeTextFile(`${place.ws}/scratch/stop`, "");
    },
  },
];
