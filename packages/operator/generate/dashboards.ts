/** The Grafana dashboards, as JSON to import. */
import { operatorDashboard, rolloutsDashboard } from './operator-dashboards.ts';
import type { Dashboard } from './panels.ts';
import { clusterDashboard, jobsDashboard, nodesDashboard } from './slurm-dashboards.ts';

const datasource = { type: 'prometheus', uid: '${datasource}' };
const width = 8;
const height = 8;

function rendered({ rows, ...dashboard }: Dashboard): object {
  const panels: object[] = [];
  let id = 0;
  let y = 0;
  for (const [row, contents] of Object.entries(rows)) {
    id += 1;
    panels.push({
      id,
      type: 'row',
      title: row,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, { title, about, kind, unit, queries }] of contents.entries()) {
      id += 1;
      const x = (index % 3) * width;
      panels.push({
        id,
        type: kind,
        title,
        description: about,
        datasource,
        gridPos: { x, y: y + Math.floor(index / 3) * height, w: width, h: height },
        fieldConfig: { defaults: { unit: unit ?? 'short', min: 0 }, overrides: [] },
        targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
          refId: String.fromCodePoint(65 + at),
          expr,
          legendFormat,
          datasource,
          ...(kind === 'timeseries' ? {} : { instant: true }),
        })),
      });
    }
    y += Math.ceil(contents.length / 3) * height;
  }
  return {
    title: dashboard.title,
    uid: dashboard.uid,
    tags: ['slurm', 'kubernetes'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          type: 'query',
          datasource,
          query: 'label_values(slurm_operator_object_ready, namespace)',
          includeAll: true,
          multi: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
}

const all = [clusterDashboard, nodesDashboard, jobsDashboard, rolloutsDashboard, operatorDashboard];

/** File name → dashboard. */
export const dashboards = (): ReadonlyMap<string, object> =>
  new Map(all.map((each) => [`${each.uid}.json`, rendered(each)]));

export const dashboardQueries = (): string[] =>
  all.flatMap(({ rows }) =>
    Object.values(rows).flatMap((panels) => panels.flatMap(({ queries }) => Object.values(queries))),
  );
