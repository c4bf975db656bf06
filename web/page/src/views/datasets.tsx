/** The list of datasets. */

import { api } from "../api";
import { ErrorNotice } from "../components/errors";
import { More, Table } from "../components/tables";
import { useList } from "../load";
import { moment, text } from "../text";

export function DatasetsView() {
  const list = useList(async (cursor, signal) => {
    const { datasets, nextCursor } = await api.listDatasets({ limit: 100, cursor, signal });
    return { items: datasets, nextCursor };
  }, []);
  const { title, none, caption, name, created } = text.datasets;
  return (
    <>
      <h1>{title}</h1>
      <ErrorNotice error={list.error} retry={list.reload} />
      {list.items?.length === 0 && <p class="card quiet">{none}</p>}
      {list.items && list.items.length > 0 && (
        <Table
          caption={caption}
          head={
            <>
              <th scope="col">{name}</th>
              <th scope="col">{created}</th>
            </>
          }
        >
          {list.items.map((dataset) => (
            <tr key={dataset.name}>
              <th scope="row">
                <a href={`/datasets/${encodeURIComponent(dataset.name)}`}>{dataset.name}</a>
              </th>
              <td>{moment(dataset.createdAt)}</td>
            </tr>
          ))}
        </Table>
      )}
      <More list={list} />
    </>
  );
}
