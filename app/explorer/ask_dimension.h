// A model with dimensions that have no extent (a sequence's length, an image's height): they are
// asked for, one by one, and the model is opened with them. Call on the GUI thread.
#pragma once

#include <QString>
#include <optional>

class QWidget;

namespace strato {

class Session;

struct UnboundDimension {
  QString file, input, name;
  int axis = 0;
};
// What an importer's error says; nothing for any other error.
std::optional<UnboundDimension> unbound_dimension(const QString& error);

// True when `error` was about a dimension: a dialog over `parent` asks for it, and its answer opens
// the model again. Answers for a file are kept until it is opened otherwise.
bool ask_dimension(Session& session, const QString& error, QWidget& parent);

}  // namespace strato
