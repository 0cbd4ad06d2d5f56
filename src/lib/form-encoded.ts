/** A text as it is written in a field of an urlencoded form. */
export const formEncoded = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
