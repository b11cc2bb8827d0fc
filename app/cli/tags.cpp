// Tags and notes of what a workspace keeps: those that the window shows, finds and changes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/stored_run.h"
#include "core/io/json.h"

namespace strato::cli {
namespace {

struct TagsOptions {
  std::string workspace, wanted;  // wanted: a tag, in list
  std::string kind, row;
  std::vector<std::string> words;
};
using TagsAction = int (*)(const TagsOptions&, const Command&);

std::string name_of_item(const Workspace& workspace, const StoredItem& item) {
  switch (item.kind) {
    case StoredKind::Model:
      if (const auto model = workspace.problems().model(item.row)) return model->name;
      break;
    case StoredKind::Cluster:
      if (const auto cluster = workspace.problems().cluster(item.row)) return cluster->name;
      break;
    case StoredKind::Run:
      if (const auto run = workspace.runs().find(item.row))
        return fmt::format("{} #{}", run->planner, run->id);
      break;
    case StoredKind::Strategy:
      if (const auto strategy = workspace.strategies().find(item.row)) return strategy->label;
      break;
  }
  return "";
}

Json annotation_json(const Workspace& workspace, const StoredItem& item, const Annotation& said) {
  return {{"kind", std::string(name_of(item.kind))},
          {"row", item.row},
          {"name", name_of_item(workspace, item)},
          {"tags", said.tags},
          {"note", said.note}};
}

std::string first_line(const std::string& note) {
  const std::size_t end = note.find('\n');
  return end == std::string::npos ? note : note.substr(0, end) + " ...";
}

int list_tags(const TagsOptions& options, const Command& command) {
  const Workspace workspace = open_existing(options.workspace, false);
  const std::vector<std::string> wanted = parse_tags(options.wanted);
  Json list = Json::array();
  Table table({"kind", "row", "name", "tags", "note"});
  for (const std::size_t column : {2, 3, 4}) table.align_left(column);
  for (const auto& [item, said] : workspace.annotations().all()) {
    const auto has = [&](const std::string& tag) {
      const std::vector<std::string> both = parse_tags(tags_text(said.tags) + " " + tag);
      return both.size() == said.tags.size();  // the same tag, whatever its case
    };
    if (!std::ranges::all_of(wanted, has)) continue;
    list.push_back(annotation_json(workspace, item, said));
    table.add({std::string(name_of(item.kind)), std::to_string(item.row),
               name_of_item(workspace, item), tags_text(said.tags), first_line(said.note)});
  }
  if (command.json) {
    print(json_text(Json{{"annotations", list}}) + "\n");
  } else {
    print(table.empty() ? "no tags and no notes\n" : table.text());
  }
  return Done;
}

int change(const TagsOptions& options, const Command& command,
           const std::function<void(Annotation&)>& change_it) {
  const StoredItem item = parse_stored_item(options.kind, options.row);
  Workspace workspace = open_existing(options.workspace, true);
  Annotation said = workspace.annotations().of(item);
  change_it(said);
  workspace.annotations().set(item, said);
  if (command.json) {
    print(json_text(annotation_json(workspace, item, said)) + "\n");
  } else {
    print(fmt::format("{} {}: {}{}\n", name_of(item.kind), item.row,
                      said.tags.empty() ? "no tags" : tags_text(said.tags),
                      said.note.empty() ? "" : "; " + first_line(said.note)));
  }
  return Done;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

int set_tags(const TagsOptions& options, const Command& command) {
  return change(options, command,
                [&](Annotation& said) { said.tags = parse_tags(joined(options.words)); });
}

int add_some_tags(const TagsOptions& options, const Command& command) {
  return change(options, command, [&](Annotation& said) {
    said.tags = parse_tags(tags_text(said.tags) + " " + joined(options.words));
  });
}

int remove_tags(const TagsOptions& options, const Command& command) {
  return change(options, command, [&](Annotation& said) {
    const std::vector<std::string> gone = parse_tags(joined(options.words));
    std::erase_if(said.tags, [&](const std::string& tag) {
      return parse_tags(tags_text(gone) + " " + tag).size() == gone.size();
    });
  });
}

int set_note(const TagsOptions& options, const Command& command) {
  return change(options, command, [&](Annotation& said) { said.note = joined(options.words); });
}

void add_tags_action(CLI::App& tags, Command& command, const std::shared_ptr<TagsOptions>& options,
                     const std::string& name, const std::string& help, TagsAction action) {
  CLI::App* sub = add_command(tags, command, name, help);
  sub->fallthrough();
  if (action == list_tags) {
    sub->add_option("--tag", options->wanted, "Only what has these tags");
  } else {
    sub->add_option("kind", options->kind, "model, cluster, run or strategy")->required();
    sub->add_option("row", options->row, "Its number")->required();
    sub->add_option("words", options->words,
                    action == set_note ? "The note; none: take it away" : "Tags");
  }
  sub->callback(
      [=, &command] { command.action = [=, &command] { return action(*options, command); }; });
}

}  // namespace

void add_tags(CLI::App& app, Command& command) {
  CLI::App* tags = add_command(app, command, "tags", "Tags and notes in a workspace");
  const auto options = std::make_shared<TagsOptions>();
  tags->add_option("--workspace", options->workspace, "Workspace (.strata)")->required();
  tags->require_subcommand(0, 1);
  add_tags_action(*tags, command, options, "list", "What has tags or a note (the default)",
                  list_tags);
  add_tags_action(*tags, command, options, "set", "These tags and no others", set_tags);
  add_tags_action(*tags, command, options, "add", "These tags, too", add_some_tags);
  add_tags_action(*tags, command, options, "remove", "No longer these tags", remove_tags);
  add_tags_action(*tags, command, options, "note", "A note, instead of the one before", set_note);
  tags->callback([=, &command] {
    if (!command.action) command.action = [=, &command] { return list_tags(*options, command); };
  });
}

}  // namespace strato::cli
