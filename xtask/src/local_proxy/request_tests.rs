//! Tests of request parsing.

use super::*;

fn read_all(mut bytes: &[u8]) -> io::Result<Vec<Incoming>> {
    let mut all = Vec::new();
    loop {
        match read(&mut bytes, &mut io::sink())? {
            Incoming::End => return Ok(all),
            refused @ Incoming::Refused(_) => {
                all.push(refused);
                return Ok(all);
            }
            request => all.push(request),
        }
    }
}

fn requests(bytes: &[u8]) -> io::Result<Vec<Request>> {
    Ok(read_all(bytes)?
        .into_iter()
        .filter_map(|incoming| match incoming {
            Incoming::Request(request) => Some(request),
            _ => None,
        })
        .collect())
}

fn refusal(bytes: &[u8]) -> io::Result<Option<Refusal>> {
    Ok(read_all(bytes)?.into_iter().find_map(|incoming| match incoming {
        Incoming::Refused(refusal) => Some(refusal),
        _ => None,
    }))
}

#[test]
fn two_requests_on_one_connection_are_reported_apart() -> io::Result<()> {
    let bytes = b"POST /a?b=%2F HTTP/1.1\r\nHost: h\r\ncontent-length: 3\r\n\r\nx\n\nGET / HTTP/1.1\r\n\r\n";
    let [first, second] = requests(bytes)?.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
    assert_eq!((first.method.as_str(), first.target.as_str()), ("POST", "/a?b=%2F"));
    assert_eq!(first.body, b"x\n\n");
    assert_eq!(first.header("host"), Some("h"));
    assert_eq!((second.method.as_str(), second.body.len()), ("GET", 0));
    Ok(())
}

#[test]
fn a_chunked_body_is_put_together() -> io::Result<()> {
    let bytes = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nt: v\r\n\r\nGET /next HTTP/1.1\r\n\r\n";
    let all = requests(bytes)?;
    assert_eq!(
        all.iter().map(|request| request.body.as_slice()).collect::<Vec<_>>(),
        [b"abc0123456789".as_slice(), b""]
    );
    Ok(())
}

#[test]
fn what_is_no_request_is_refused() -> io::Result<()> {
    assert_eq!(refusal(b"hello\r\n\r\n")?, Some(Refusal::Malformed));
    assert_eq!(refusal(b"GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n")?, Some(Refusal::Malformed));
    assert_eq!(refusal(b"GET / HTTP/1.1\r\ncontent-length: 10485761\r\n\r\n")?, Some(Refusal::TooLarge));
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(70_000));
    assert_eq!(refusal(long.as_bytes())?, Some(Refusal::HeadersTooLarge));
    Ok(())
}

#[test]
fn the_connection_is_kept_unless_the_client_closes_it() -> io::Result<()> {
    for (head, kept) in [
        ("GET / HTTP/1.1\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", false),
        ("GET / HTTP/1.0\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
    ] {
        let all = requests(head.as_bytes())?;
        assert_eq!(all.first().map(|request| request.keep_alive), Some(kept), "{head}");
    }
    Ok(())
}
