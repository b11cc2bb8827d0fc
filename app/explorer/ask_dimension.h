// A model with dimensions that have no extent (a sequence's length, an image's height): they are
// asked for, one by one, and the model is opened with them. Call on the GUI thread.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

class QWidget;

namespace strato {

class Session;
struct ImportOptions;

struct UnboundDimension {
  QString file, input, name;
  int axis = 0;
};
// What an importer's error says; nothing for any other error.
std::optional<UnboundDimension> unbound_dimension(const QString& error);

// True when `error` was about a dimension: a dialog over `parent` asks for it, and its answer opens
// the model again. Answers for a file are kept until it is opened otherwise.
bool ask_dimension(Session& session, const QString& error, QWidget& parent);

// What was said before anyone asked: stays with the model among `files`, when there is one.
void keep_answers(QWidget& parent, const QStringList& files, const ImportOptions& import);

// From the command line: a batch ("" for none) and "name=N" each. Nothing, with a sentence in
// `problem`, where one of them is not such a text.
std::optional<ImportOptions> import_options_from(const QString& batch, const QStringList& dimensions,
                                                 QString& problem);

}  // namespace strato
