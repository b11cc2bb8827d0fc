#include "core/store/table/problem_table.h"

#include "core/store/sqlite/connection.h"

namespace strato {
namespace {

using store::ResultRow;

constexpr auto id_of = [](const ResultRow& row) { return row.integer(0); };

// The columns are id, name, path, options, digest.
StoredModel model_from(const ResultRow& row) {
  return {row.integer(0), row.text(1), row.text(2), row.text(3), Digest::from_hex(row.text(4)), {}};
}

// The columns are id, name, digest, codec, size, bytes.
StoredCluster cluster_from(const ResultRow& row) {
  return {row.integer(0), row.text(1), row.unpacked(3), Digest::from_hex(row.text(2))};
}

}  // namespace

ModelRow ProblemTable::add(const StoredModel& model) {
  ModelRow result = 0;
  connection_.write([&] {
    const std::string digest = model.digest.hex();
    const auto known = connection_.first("SELECT id FROM model WHERE digest = ? AND options = ?",
                                         {digest, model.options}, id_of);
    result = known ? *known
                   : connection_.insert(
                         "INSERT INTO model (name, path, options, digest, content) "
                         "VALUES (?, ?, ?, ?, ?)",
                         {model.name, model.path, model.options, digest,
                          connection_.put_value(model.content)});
  });
  return result;
}

ClusterRow ProblemTable::add(const StoredCluster& cluster) {
  ClusterRow result = 0;
  connection_.write([&] {
    const std::string digest = cluster.digest.hex(), json = connection_.put_value(cluster.json);
    const auto known =
        connection_.first("SELECT id FROM cluster WHERE digest = ?", {digest}, id_of);
    if (known) {  // what is no part of the digest, as its price, is as of now
      connection_.execute("UPDATE cluster SET json = ?1 WHERE id = ?2 AND json <> ?1",
                          {json, *known});
    }
    result = known ? *known
                   : connection_.insert("INSERT INTO cluster (name, digest, json) VALUES (?, ?, ?)",
                                        {cluster.name, digest, json});
  });
  return result;
}

std::vector<StoredModel> ProblemTable::models() const {
  return connection_.rows("SELECT id, name, path, options, digest FROM model ORDER BY id", {},
                          model_from);
}

std::optional<StoredModel> ProblemTable::model(ModelRow id) const {
  return connection_.first(
      "SELECT id, name, path, options, model.digest, codec, size, bytes FROM model "
      "JOIN value ON value.digest = model.content WHERE id = ?",
      {id}, [](const ResultRow& row) {
        StoredModel model = model_from(row);
        model.content = row.unpacked(5);
        return model;
      });
}

std::vector<StoredCluster> ProblemTable::clusters() const {
  return connection_.rows(
      "SELECT id, name, cluster.digest, codec, size, bytes FROM cluster "
      "JOIN value ON value.digest = cluster.json ORDER BY id",
      {}, cluster_from);
}

std::optional<StoredCluster> ProblemTable::cluster(ClusterRow id) const {
  return connection_.first(
      "SELECT id, name, cluster.digest, codec, size, bytes FROM cluster "
      "JOIN value ON value.digest = cluster.json WHERE id = ?",
      {id}, cluster_from);
}

}  // namespace strato
