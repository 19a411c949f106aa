export function aptInstall(packages: readonly string[]): Promise<void>;
export function alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
