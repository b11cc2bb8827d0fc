// Asks for a file or folder, beginning in the folder of the last one that was chosen, also of
// another session. An empty answer: none was chosen. Modal; GUI thread.
#pragma once

#include <QStringList>

class QWidget;

namespace strato::style {

// `name`: what is proposed; a name without an extension gets the proposed one's, before it is asked
// whether a file is to be replaced.
QString file_to_write(QWidget* parent, const QString& title, const QString& name,
                      const QString& filter);
QString file_to_open(QWidget* parent, const QString& title, const QString& filter);
QStringList files_to_open(QWidget* parent, const QString& title, const QString& filter);
QString folder_to_open(QWidget* parent, const QString& title);

}  // namespace strato::style
