// The commands that fit what is written, best first; without a word what was used last comes first.
// A prefix (">" commands, ":" planners, "#" devices, "@" groups) leaves only these.
#pragma once

#include <QAbstractListModel>
#include <QStringList>
#include <vector>

#include "app/explorer/command_list.h"
#include "app/explorer/fuzzy_match.h"

namespace strato {

class CommandModel : public QAbstractListModel {
  Q_OBJECT
 public:
  // More rows than this are not shown: one writes another letter.
  static constexpr std::size_t kMostRows = 300;

  // `recent`: ids, the latest first.
  CommandModel(std::vector<Command> commands, QStringList recent, QObject* parent = nullptr);

  void set_query(const QString& query);
  const Command& command(int row) const;
  // Where the letters are in the title, for painting.
  const QVector<int>& matched(int row) const;
  bool is_recent(int row) const;
  std::size_t found() const { return found_; }  // with those that are not shown

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Row {
    std::size_t command;
    int score;
    QVector<int> matched;
  };
  void fill(const QString& query);

  std::vector<Command> commands_;
  QStringList recent_;
  std::vector<int> age_;  // place in `recent_`, or its size
  std::vector<Row> rows_;
  std::size_t found_ = 0;
};

// The list with this id in front, no id twice, not longer than what is worth remembering.
QStringList with_used(const QStringList& recent, const QString& id);

}  // namespace strato
