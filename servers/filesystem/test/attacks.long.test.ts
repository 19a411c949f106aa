import { resistsSwaps } from "./swap-attacks.ts";

resistsSwaps({ reads: 20_000, writes: 10_000, timeoutMs: 600_000 });
