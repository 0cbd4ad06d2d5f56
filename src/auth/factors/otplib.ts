export { generateSecret, generateURI, verifySync } from "otplib";
