//! Many tenants, one of which abuses the deployment. The test measures how long the small jobs of the other tenants
//! wait.
//!
//! The clock is simulated, and so are the parts of AWS for which a job waits: instances of the API's function, the FIFO
//! queue of splits, the fair queue of chunks, and the workers of both. Message groups, turns, rate limits and admission
//! are those of the real code.
//!
//! A FIFO queue delivers no message of a group while another message of the group is in flight
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! A fair queue delivers the messages of a tenant that uses more than a tenth of the workers' time after those of
//! others
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html>).

mod abuser;
mod api;
mod deployment;
mod queues;
mod waits;
