// A model with dimensions that have no extent (a sequence's length, an image's height): they are
// asked for, one by one, and the model is opened with them. GUI thread only.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

class QWidget;

namespace strato {

struct ImportOptions;
struct WantedDimension;

// A dialog over `parent`; its answer opens what was to be opened.
void ask_dimension(const WantedDimension& wanted, QWidget& parent);

// From the command line: a batch ("" for none) and "name=N" each. Nothing, with a sentence in
// `problem`, where one of them is not such a text.
std::optional<ImportOptions> import_options_from(const QString& batch,
                                                 const QStringList& dimensions, QString& problem);

}  // namespace strato
