import * as argon2 from "@node-rs/argon2";

export const EMAIL = "owner@example.com";
export const PASSWORD = "correct horse battery staple";
export const USER_ID = "1";

/** A hash of {@link PASSWORD} with the lowest cost: 1 MiB and one pass. */
export const PASSWORD_HASH =
  "$argon2id$v=19$m=1024,t=1,p=1$7gF8qc/QOQ71WJGkg5xCZg$Gw772AHm/tEJRsUVW0H8SXnPqv6iO83X2rJskwmao4Y";

export const JWT_SECRET = "tests-sign-with-this-0f9d1c7b35a2e8";
export const OTHER_JWT_SECRET = "tests-sign-with-that-71b6ae40c95d23";

/** Base64 after `whsec_`, so that the scheme of every package can use it. */
export const WEBHOOK_SECRET = "whsec_dGVzdHMtc2lnbi1kZWxpdmVyaWVzLXdpdGgtdGhpcw==";

/** A cheap hash of another password. */
export function cheapHash(password: string): Promise<string> {
  return argon2.hash(password, {
    algorithm: argon2.Algorithm.Argon2id,
    memoryCost: 1024,
    timeCost: 1,
    parallelism: 1,
  });
}
