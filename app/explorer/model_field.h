// The model on the start page: a file that was chosen, or a text that is pasted, whichever came
// last. A sentence below says what the text describes, or why it is no model.
#pragma once

#include <QWidget>
#include <optional>

#include "app/explorer/pasted_text.h"

class QLabel;
class QPlainTextEdit;
class QTimer;

namespace strato {

class ModelField : public QWidget {
  Q_OBJECT
 public:
  explicit ModelField(QWidget* parent = nullptr);

  void choose(
      const QString& file);  // of a model; takes what was pasted away, which undo brings back
  // What Session::open_model() takes; a pasted text is kept as a file of the user's now. Empty:
  // there is no model, and the sentence says so.
  QString model();
  // What the text says beside the model; null: it is a file, a config.json, or no model.
  const frameworks::TrainingJob* job() const;
  bool has_model() const { return pasted_ || !file_.isEmpty(); }
  void read_now();  // what is in the box, where that has not been read yet

 signals:
  void changed();
  void open_wanted();  // a file is to be chosen

 private:
  void read();
  void say_what_it_is();
  void say(const QString& words);  // below the box

  QPlainTextEdit* box_;
  QLabel *chosen_, *note_;
  QTimer* read_soon_;
  QString file_;
  std::optional<PastedText> pasted_;
};

}  // namespace strato
