// Data as files.

// Save a file.
export function save(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const field = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csvText = (head, rows) => [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

export const downloadCsv = (name, head, rows) => save(csvText(head, rows), "text/csv", `${name}.csv`);
