export function aptInstall(
  packages: readonly string[],
  options: {
    readonly say: (line: string) => void;
    readonly env?: NodeJS.ProcessEnv;
    readonly apt?: string;
    readonly isRoot?: boolean;
  },
): Promise<string | undefined>;
export function alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
