// The calls of C++ against those of tableq.h, in turns in one process:
//
//     tableq_bench_c ADDRESS [ROUNDS]
//
// For each task: calls a second of processor time through each library, medians of the rounds, and
// their ratio. Each library is a copy of its own, on a queue of its own.
#include <tableq.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace {

constexpr int calls = 5000;
constexpr std::size_t per_batch = 100;
const std::string payload(100, 'x');

double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Call>
void must(Call call) {
  tq_error* error = nullptr;
  if (call(&error) == TQ_OK) return;
  std::fprintf(stderr, "%s\n", tq_error_message(error));
  std::exit(1);
}

void complete_all(tableq::claim_queue& jobs, std::size_t max) {
  const auto taken = jobs.take(max);
  static_cast<void>(max == 1 ? std::vector{jobs.complete(taken.at(0))}
                             : jobs.complete_batch(taken));
}
void complete_all(tq_queue* jobs, std::size_t max) {
  tq_result* taken = nullptr;
  must([&](tq_error** e) { return tq_take(jobs, nullptr, max, nullptr, &taken, e); });
  if (max == 1) {
    std::size_t size = 0;
    int outcome = 0;
    const char* const receipt = tq_result_bytes(taken, 0, "receipt", &size);
    must([&](tq_error** e) { return tq_complete(jobs, nullptr, receipt, size, &outcome, e); });
  } else {
    tq_batch* all = nullptr;
    tq_result* outcomes = nullptr;
    must([&](tq_error** e) { return tq_batch_new(&all, e); });
    must([&](tq_error** e) { return tq_batch_add_receipts(all, taken, nullptr, e); });
    must([&](tq_error** e) { return tq_complete_batch(jobs, nullptr, all, &outcomes, e); });
    tq_result_free(outcomes);
    tq_batch_free(all);
  }
  tq_result_free(taken);
}

void enqueue_all(tableq::claim_queue& jobs, std::size_t count) {
  if (count == 1) {
    jobs.enqueue(payload);
  } else {
    jobs.enqueue_batch(std::vector<tableq::new_claim_message>(count, {.payload = payload}));
  }
}
void enqueue_all(tq_queue* jobs, std::size_t count) {
  if (count == 1) {
    return must([&](tq_error** e) {
      return tq_enqueue(jobs, nullptr, payload.data(), payload.size(), nullptr, nullptr, nullptr,
                        e);
    });
  }
  tq_batch* all = nullptr;
  must([&](tq_error** e) { return tq_batch_new(&all, e); });
  for (std::size_t i = 0; i < count; ++i) {
    must([&](tq_error** e) {
      return tq_batch_add(all, payload.data(), payload.size(), nullptr, e);
    });
  }
  must([&](tq_error** e) { return tq_enqueue_batch(jobs, nullptr, all, nullptr, nullptr, e); });
  tq_batch_free(all);
}

struct task {
  const char* name;
  std::size_t messages;
  std::function<void()> in_cpp;
  std::function<void()> in_c;
  std::array<std::vector<double>, 2> rates = {};
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all.at(all.size() / 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tableq_bench_c ADDRESS [ROUNDS]\n");
    return 2;
  }
  const std::string address = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  auto db = tableq::database::open(address);
  db.drop("bench_cpp");
  db.drop("bench_c");
  auto jobs = db.claim("bench_cpp");
  tq_database* c_db = nullptr;
  tq_queue* c_jobs = nullptr;
  must([&](tq_error** e) {
    return tq_database_open(address.data(), address.size(), nullptr, &c_db, e);
  });
  must([&](tq_error** e) {
    return tq_queue_open(c_db, "bench_c", TQ_NUL, "claim", nullptr, &c_jobs, e);
  });
  std::vector<task> tasks{
      {"enqueue", 1, [&] { enqueue_all(jobs, 1); }, [&] { enqueue_all(c_jobs, 1); }},
      {"take, complete", 1, [&] { complete_all(jobs, 1); }, [&] { complete_all(c_jobs, 1); }},
      {"enqueue 100", per_batch, [&] { enqueue_all(jobs, per_batch); },
       [&] { enqueue_all(c_jobs, per_batch); }},
      {"take, complete 100", per_batch, [&] { complete_all(jobs, per_batch); },
       [&] { complete_all(c_jobs, per_batch); }}};
  for (int round = 0; round < 2 * rounds; ++round) {
    const std::size_t side = static_cast<std::size_t>(round + round / 2) % 2;
    for (task& each : tasks) {
      const auto& call = side == 0 ? each.in_cpp : each.in_c;
      const double begin = seconds();
      for (int i = 0; i < calls / static_cast<int>(each.messages); ++i) call();
      each.rates.at(side).push_back(calls / (seconds() - begin));
    }
  }
  for (const task& each : tasks) {
    const double cpp = median(each.rates.at(0));
    const double c = median(each.rates.at(1));
    std::printf("%-20s C++ %8.0f/s  C %8.0f/s  ratio %.3f\n", each.name, cpp, c, c / cpp);
  }
  tq_queue_close(c_jobs);
  tq_database_close(c_db);
  return 0;
}
