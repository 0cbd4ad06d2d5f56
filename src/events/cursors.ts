/** The cursor of a list of events, or of held deliveries. */
export const LIST_CURSOR = /^[0-9]{1,15}$/;

/** The cursor of a page of jobs. */
export const JOB_CURSOR = /^[0-9]{1,15}-[0-9]{1,15}$/;

/** The cursor of a page of a purge. */
export const PURGE_CURSOR = /^(?:contents|ids|space)(?:-[0-9]{1,15}){5}$/;
