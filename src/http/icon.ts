/** The mark of the product as SVG. */
export const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="#1b5bc0"/>' +
  '<path d="M12 5a3.6 3.6 0 0 0-1.7 6.8L9.3 18.5h5.4l-1-6.7A3.6 3.6 0 0 0 12 5z" fill="#fff"/></svg>';

/** The icon of pages. Without one in the page, browsers request /favicon.ico. */
export const ICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`;
