/** Where the sign-in of Codex lies; undefined: there is no home directory. */
export function authFilePath(env: (name: string) => string | undefined): string | undefined {
  const codexHome = env("CODEX_HOME");
  if (codexHome) return `${codexHome}/auth.json`;
  const home = env("HOME") || env("USERPROFILE");
  return home ? `${home}/.codex/auth.json` : undefined;
}
