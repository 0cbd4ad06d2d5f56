export { hash, verify } from "@node-rs/bcrypt";
