/** Name and age. */
import type { ServerParts } from '../ports/server-parts.ts';
import type { TablePrinter } from '../ports/table-printer.ts';

export function createTablePrinter(_parts: ServerParts): TablePrinter {
  return {
    columns: () => [
      { name: 'Name', type: 'string', format: 'name', description: 'Name of the object', priority: 0 },
      { name: 'Created At', type: 'date', format: '', description: 'When it was created', priority: 0 },
    ],
    cells: (_definition, object) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''],
  };
}
